/*
 * guest.c - makes all calls in a host that uses libcrypto itself.
 *
 *   guest CASES.json [SUITE]
 *
 * Runs the whole case table with two errors of the host in its OpenSSL error
 * queue, and again with an empty queue: the queue must stay unchanged. (A
 * library with a libcrypto inside does not share the host's queue; one over the
 * host's libcrypto does.) Tests/Gates/guest.py runs it under several
 * openssl.cnf of the host (JWS-102) and traces its system calls. The host's
 * libcrypto is that of OpenSSL 3, or the one that HOST_LIBCRYPTO names.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "report.h"

static struct {
  void (*clear)(void);
  void (*begin)(void);
  void (*set)(int, int, const char *, ...);
  /* Functions for a libcrypto that lacks the two of OpenSSL 3. */
  void (*put)(int, int, int, const char *, unsigned);
  unsigned long (*first)(void);
  unsigned long (*last)(void);
} queue;

/* Copies the pointer: ISO C cannot convert void * to a function. */
static int find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static int find_queue(void) {
  const char *name = getenv("HOST_LIBCRYPTO");
  void *library = dlopen(name != NULL ? name : "libcrypto.so.3", RTLD_NOW);
  return library != NULL && find(library, "ERR_clear_error", &queue.clear) &&
         ((find(library, "ERR_new", &queue.begin) &&
           find(library, "ERR_set_error", &queue.set)) ||
          find(library, "ERR_put_error", &queue.put)) &&
         find(library, "ERR_peek_error", &queue.first) &&
         find(library, "ERR_peek_last_error", &queue.last);
}

static void put_errors(int count) {
  int i;
  queue.clear();
  for (i = 0; i < count; i++) {
    if (queue.put != NULL) {
      queue.put(6, 0, 100 + i, __FILE__, __LINE__);
      continue;
    }
    queue.begin();
    queue.set(6, 100 + i, NULL);
  }
}

/* Returns the number of cases that change the queue. */
static long disturbing(const struct case_table *table, int errors) {
  const cJSON *item;
  long count = 0;
  cJSON_ArrayForEach(item, table->cases) {
    assay_status status = -1;
    assay_doc *doc = NULL;
    unsigned long first, last;
    put_errors(errors);
    first = queue.first();
    last = queue.last();
    count += case_run(table, item, &status, &doc) != 0 ||
             queue.first() != first || queue.last() != last;
    assay_doc_free(doc);
  }
  return count;
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "guest";
  static const int errors[] = {2, 0};
  struct case_table table;
  int i;
  if (argc < 2 || !find_queue()) return 2;
  put_errors(1);
  if (case_table_open(&table, argv[1]) != 0) return 2;
  expect_that(queue.first() != 0 && queue.first() == queue.last(),
              "making verifiers changed the error queue");
  for (i = 0; i < 2; i++) {
    long count = disturbing(&table, errors[i]);
    expect_that(count == 0, "%ld cases change a queue of %d errors", count, errors[i]);
  }
  case_table_close(&table);
  return finish(suite);
}
