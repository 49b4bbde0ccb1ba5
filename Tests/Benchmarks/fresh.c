/*
 * fresh.c - the memory that a process needs for its first verification.
 *
 *   fresh                          nothing: the bare process
 *   fresh LIBRARY FOLDER           load, make a verifier, verify once
 *   fresh --libcrypto FOLDER       load libcrypto, check one P-384 signature
 *
 * Prints resident memory in KiB before and after, the highest since the start,
 * and the anonymous part of the growth (no pages of the library's file).
 */
#include <assay.h>
#include <dlfcn.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char *what) {
  fprintf(stderr, "fresh: %s\n", what);
  exit(1);
}

/* Returns one line of /proc/self/status in KiB. */
static long memory(const char *name) {
  char line[256];
  long value = -1;
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) fail("no /proc/self/status");
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, name, strlen(name)) == 0)
      value = atol(line + strlen(name));
  fclose(status);
  return value;
}

static size_t contents(const char *folder, const char *name, char *out,
                       size_t size) {
  char path[4096];
  FILE *file;
  size_t length;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "rb");
  if (file == NULL) fail(path);
  length = fread(out, 1, size, file);
  fclose(file);
  return length;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) fail(dlerror());
  return found;
}

static void *load(const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail(dlerror());
  return library;
}

/* Loads Assay, makes a verifier and verifies one transaction. */
static void verify_once(const char *name, const char *config,
                        size_t config_length, const char *jws,
                        size_t jws_length) {
  assay_status (*verifier_new)(const char *, size_t, assay_verifier **,
                               assay_doc **);
  assay_status (*verify)(const assay_verifier *, int32_t, const char *, size_t,
                         int64_t, assay_doc **);
  const char *(*json)(const assay_doc *, size_t *);
  void (*doc_free)(assay_doc *);
  assay_verifier *verifier;
  assay_doc *doc;
  void *library = load(name);
  size_t length;
  *(void **)&verifier_new = symbol(library, "assay_verifier_new");
  *(void **)&verify = symbol(library, "assay_verify_jws");
  *(void **)&json = symbol(library, "assay_doc_json");
  *(void **)&doc_free = symbol(library, "assay_doc_free");
  if (verifier_new(config, config_length, &verifier, NULL) != ASSAY_OK)
    fail("assay_verifier_new");
  if (verify(verifier, ASSAY_JWS_TRANSACTION, jws, jws_length,
             (int64_t)time(NULL) * 1000, &doc) != ASSAY_OK)
    fail("assay_verify_jws");
  if (json(doc, &length) == NULL || length == 0) fail("assay_doc_json");
  doc_free(doc);
}

/* Loads libcrypto only, parses a certificate and checks its signature. */
static void check_once(const char *der, size_t length) {
  X509 *(*parse)(X509 **, const unsigned char **, long);
  EVP_PKEY *(*key)(const X509 *);
  int (*check)(X509 *, EVP_PKEY *);
  const unsigned char *read = (const unsigned char *)der;
  void *library = load("libcrypto.so.3");
  X509 *certificate;
  *(void **)&parse = symbol(library, "d2i_X509");
  *(void **)&key = symbol(library, "X509_get0_pubkey");
  *(void **)&check = symbol(library, "X509_verify");
  certificate = parse(NULL, &read, (long)length);
  if (certificate == NULL || check(certificate, key(certificate)) != 1)
    fail("X509_verify");
}

int main(int argc, char **argv) {
  static char config[16384], jws[16384], root[4096];
  size_t config_length, jws_length, root_length;
  long before, anonymous;
  if (argc < 3) return 0;
  config_length = contents(argv[2], "config.json", config, sizeof config);
  jws_length = contents(argv[2], "transaction.jws", jws, sizeof jws);
  root_length = contents(argv[2], "root.der", root, sizeof root);
  before = memory("VmRSS:");
  anonymous = memory("RssAnon:");
  if (strcmp(argv[1], "--libcrypto") == 0)
    check_once(root, root_length);
  else
    verify_once(argv[1], config, config_length, jws, jws_length);
  printf("%ld %ld %ld %ld\n", before, memory("VmRSS:"), memory("VmHWM:"),
         memory("RssAnon:") - anonymous);
  return 0;
}
