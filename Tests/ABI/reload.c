/*
 * reload.c - loads and unloads the library in a host.
 *
 *   reload LIBRARY [SUITE]
 *
 * Calls dlopen and dlclose many times, with a verification in between; signal
 * handlers, the signal mask, the locale and the threads of the process must
 * stay unchanged. The program itself is not linked with the library.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

enum { ROUNDS = 50 };

static const char CONFIG[] =
    "{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1}]}";

typedef int32_t (*verifier_new)(const char *, size_t, void **, void **);
typedef int32_t (*verify_jws)(const void *, int32_t, const char *, size_t,
                              int64_t, void **);
typedef void (*give_back)(void *);

static void expect(int met, const char *what) { expect_that(met, "%s", what); }

/* Reads a line of /proc/self/status, such as the mask of caught signals. */
static void process_line(const char *name, char *line, size_t size) {
  FILE *file = fopen("/proc/self/status", "r");
  line[0] = '\0';
  if (file == NULL) return;
  while (fgets(line, (int)size, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) break;
  fclose(file);
}

static int open_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

/* Copies the pointer: ISO C cannot convert void * to a function. */
static int find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static int32_t verify_once(void *library) {
  verifier_new make;
  verify_jws verify;
  give_back free_verifier, free_doc;
  void *verifier = NULL, *doc = NULL;
  int32_t status;
  if (!find(library, "assay_verifier_new", &make) ||
      !find(library, "assay_verify_jws", &verify) ||
      !find(library, "assay_verifier_free", &free_verifier) ||
      !find(library, "assay_doc_free", &free_doc))
    return -1;
  if (make(CONFIG, strlen(CONFIG), &verifier, NULL) != 0) return -1;
  status = verify(verifier, 1, "e30.e30.e30", 11, INT64_C(1767225600000), &doc);
  free_doc(doc);
  free_verifier(verifier);
  return status & 0xff;
}

/* Whether the host's libcrypto still finds digests by name: a library that
 * shares it could switch that off for the whole process. */
static int host_finds_digests(void) {
  const void *(*by_name)(const char *);
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 1;
  return find(library, "EVP_get_digestbyname", &by_name) &&
         by_name("SHA256") != NULL;
}

int main(int argc, char **argv) {
  static const char *const lines[] = {"SigCgt:", "SigBlk:", "SigIgn:",
                                      "Threads:"};
  enum { LINES = sizeof lines / sizeof lines[0] };
  const char *suite = argc > 2 ? argv[2] : "reload";
  char before[LINES][80], after[80];
  int i, files, rounds = 0, verdicts = 0;
  if (argc < 2) return 2;
  for (i = 0; i < LINES; i++)
    process_line(lines[i], before[i], sizeof before[i]);
  files = open_files();
  for (i = 0; i < ROUNDS; i++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      printf("FAILED %s\n", dlerror());
      break;
    }
    verdicts += verify_once(library) == 2; /* malformed */
    rounds += dlclose(library) == 0;
  }
  expect(rounds == ROUNDS, "the library loads and unloads every time");
  expect(verdicts == ROUNDS, "it verifies every time");
  for (i = 0; i < LINES; i++) {
    process_line(lines[i], after, sizeof after);
    expect(strlen(before[i]) > 0 && strcmp(before[i], after) == 0, lines[i]);
  }
  expect(files > 0 && open_files() == files, "no file stays open");
  expect(host_finds_digests(), "the host's own libcrypto works as before");
  return finish(suite);
}
