/*
 * fork.c - uses a verifier made before fork in parent and children.
 *
 *   fork CASES.json [SUITE]
 *
 * A thread of the parent keeps verifying while the children are made, so that a
 * lock held at the moment of fork would hang a child: each child runs the whole
 * table under an alarm and reports by its exit code. And no nonce is drawn
 * twice, not even by two processes with the same id (EXC-23).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "report.h"

enum { CHILDREN = 6, SECONDS = 60 };

static struct case_table table;
static volatile int stop;

/* Returns the number of cases with a wrong status. */
static long wrong(void) {
  long count = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, table.cases) count += !case_holds(&table, item);
  return count;
}

/* Reads a nonce that the library draws, 36 characters. Returns 0 on success. */
static int draw(char *out) {
  static const char request[] =
      "{\"operation\":\"sign-promotional-offer-v1\",\"bundleId\":\"com.example.app\","
      "\"productId\":\"p.1\",\"offerId\":\"o.1\",\"applicationUsername\":\"ann\"}";
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  const char *nonce;
  size_t length = 0;
  int drawn;
  (void)assay_exchange_new(case_table_verifier(&table, "signing"), request,
                           sizeof request - 1, NULL, 0, INT64_C(1795598341000), &exchange,
                           &doc);
  nonce = assay_doc_text(doc, "exchange.nonce", 14, &length);
  drawn = nonce != NULL && length == 36;
  if (drawn) memcpy(out, nonce, length);
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  return !drawn;
}

/* Forks a child that is process 1 of a new namespace. Returns 0 in the child,
 * its id in the parent, a negative number if namespaces are not permitted. */
static pid_t fork_as_first(void) { return unshare(CLONE_NEWPID) != 0 ? -1 : fork(); }

/* Makes two processes with the same id, one the child of the other. Returns
 * 1 if they draw different nonces, 0 if not, -1 if namespaces are not
 * permitted. */
static int same_id(void) {
  char drawn[2][36];
  int ends[2], result = 0;
  pid_t outer;
  if (pipe(ends) != 0) return 0;
  outer = fork();
  if (outer == 0) {
    pid_t first = fork_as_first(), second;
    if (first < 0) _exit(77);
    if (first > 0) _exit(waitpid(first, &result, 0) == first ? WEXITSTATUS(result) : 1);
    alarm(SECONDS);
    /* Creates the state of first use before the fork, so that both have it. */
    if (draw(drawn[0]) != 0) _exit(1);
    second = fork_as_first();
    if (second < 0) _exit(77);
    if (getpid() != 1 || draw(drawn[1]) != 0 ||
        write(ends[1], drawn[1], sizeof drawn[1]) != (ssize_t)sizeof drawn[1])
      _exit(1);
    if (second == 0) _exit(0);
    _exit(waitpid(second, &result, 0) == second ? WEXITSTATUS(result) : 1);
  }
  if (outer < 0 || waitpid(outer, &result, 0) != outer || !WIFEXITED(result)) return 0;
  if (WEXITSTATUS(result) == 77) return -1;
  return WEXITSTATUS(result) == 0 &&
         read(ends[0], drawn[0], sizeof drawn[0]) == (ssize_t)sizeof drawn[0] &&
         read(ends[0], drawn[1], sizeof drawn[1]) == (ssize_t)sizeof drawn[1] &&
         memcmp(drawn[0], drawn[1], sizeof drawn[0]) != 0;
}

static void *busy(void *argument) {
  long *count = argument;
  while (!stop) *count += wrong();
  return NULL;
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "fork";
  long background = 0;
  pthread_t thread;
  int i;
  if (argc < 2 || case_table_open(&table, argv[1]) != 0) return 2;
  if (pthread_create(&thread, NULL, busy, &background) != 0) return 2;
  for (i = 0; i < CHILDREN; i++) {
    int result = 0;
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      alarm(SECONDS);
      _exit(wrong() == 0 ? 0 : 1);
    }
    if (waitpid(child, &result, 0) != child) return 2;
    expect_that(WIFEXITED(result) && WEXITSTATUS(result) == 0, "child %d: %s %d", i,
                WIFSIGNALED(result) ? "signal" : "exit code",
                WIFSIGNALED(result) ? WTERMSIG(result) : WEXITSTATUS(result));
  }
  stop = 1;
  pthread_join(thread, NULL);
  expect_that(background == 0 && wrong() == 0, "the parent gives other answers");
  i = same_id();
  skipped = i < 0;
  if (skipped)
    puts("skipped fork: two processes with one id: namespaces are not allowed here");
  else
    expect_that(i > 0, "two processes with one id draw the same nonce, or none");
  case_table_close(&table);
  return finish(suite);
}
