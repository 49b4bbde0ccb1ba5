/*
 * overhead.c - the cost of the C call that every binding makes: one transaction
 * verified, its facts read, the document freed.
 *
 *   overhead CONFIG_FILE JWS_FILE NOW_MS COUNT
 *
 * Prints two lines of JSON: nanoseconds of CPU time per call of each of seven
 * rounds; and of a request, which makes a verifier, calls and frees it.
 */
#include <assay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 7
#define WARM_UP 200
#define PATH(name) "transaction." name, sizeof("transaction." name) - 1

struct text {
  char *at;
  size_t length;
};

static struct text read_file(const char *path) {
  struct text found = {NULL, 0};
  FILE *file = fopen(path, "rb");
  long size;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
      (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0 ||
      (found.at = malloc((size_t)size + 1)) == NULL ||
      fread(found.at, 1, (size_t)size, file) != (size_t)size) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(2);
  }
  found.length = (size_t)size;
  fclose(file);
  return found;
}

/* Returns the CPU time of the process, which other load disturbs little. */
static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Keeps the compiler from removing the reading of facts. */
static volatile size_t seen;

static void see_text(const assay_doc *doc, const char *path, size_t path_len) {
  size_t length = 0;
  if (assay_doc_text(doc, path, path_len, &length) == NULL) {
    fprintf(stderr, "%s is absent\n", path);
    exit(1);
  }
  seen += length;
}

static void see_integer(const assay_doc *doc, const char *path,
                        size_t path_len) {
  seen += (size_t)assay_doc_integer(doc, path, path_len, -1);
}

/* The arguments of a call, with a shared verifier or with one for each
 * request. */
struct call {
  struct text config, jws;
  int64_t now_ms;
  assay_verifier *verifier;
};

static void one_call(struct call *call) {
  assay_doc *doc = NULL;
  if (assay_verify_jws(call->verifier, ASSAY_JWS_TRANSACTION, call->jws.at,
                       call->jws.length, call->now_ms, &doc) != ASSAY_OK) {
    fprintf(stderr, "refused: %s\n", assay_doc_json(doc, NULL));
    exit(1);
  }
  see_text(doc, PATH("transactionId"));
  see_text(doc, PATH("originalTransactionId"));
  see_text(doc, PATH("productId"));
  see_text(doc, PATH("bundleId"));
  see_text(doc, PATH("environment"));
  see_text(doc, PATH("type"));
  see_integer(doc, PATH("purchaseDate"));
  see_integer(doc, PATH("expiresDate"));
  see_integer(doc, PATH("quantity"));
  see_text(doc, PATH("inAppOwnershipType"));
  assay_doc_free(doc);
}

static void verifier_make(struct call *call) {
  if (assay_verifier_new(call->config.at, call->config.length, &call->verifier,
                         NULL) != ASSAY_OK) {
    fputs("the configuration is refused\n", stderr);
    exit(1);
  }
}

/* Makes a request that has a verifier of its own. */
static void one_request(struct call *call) {
  verifier_make(call);
  one_call(call);
  assay_verifier_free(call->verifier);
}

static void measure(const char *name, void (*work)(struct call *call),
                    struct call *call, long count) {
  long i;
  int round;
  for (i = 0; i < WARM_UP; i++) work(call);
  printf("{\"language\": \"%s\", \"ns\": [", name);
  for (round = 0; round < ROUNDS; round++) {
    double begin = now_ns();
    for (i = 0; i < count; i++) work(call);
    printf("%s%.1f", round ? ", " : "", (now_ns() - begin) / (double)count);
  }
  puts("]}");
}

int main(int argc, char **argv) {
  struct call call;
  long count;
  if (argc != 5 || (count = strtol(argv[4], NULL, 10)) < 1) {
    fputs("usage: overhead CONFIG_FILE JWS_FILE NOW_MS COUNT\n", stderr);
    return 2;
  }
  call.config = read_file(argv[1]);
  call.jws = read_file(argv[2]);
  call.now_ms = strtoll(argv[3], NULL, 10);
  verifier_make(&call);
  measure("c", one_call, &call, count);
  assay_verifier_free(call.verifier);
  measure("c-request", one_request, &call, count);
  free(call.config.at);
  free(call.jws.at);
  return 0;
}
