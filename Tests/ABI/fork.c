/*
 * fork.c - a verifier made before fork, used in parent and children.
 *
 *   fork CASES.json [SUITE]
 *
 * A thread of the parent keeps verifying while the children are made, so that
 * a lock held at the moment of fork would hang a child: each child runs the
 * whole table under an alarm and reports by its exit code.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

enum { CHILDREN = 6, SECONDS = 60 };

static struct case_table table;
static volatile int stop;

/* How many cases do not give their status. */
static long wrong(void) {
  long count = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, table.cases) {
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
    assay_status status = -1;
    assay_doc *doc = NULL;
    count += case_run(&table, item, &status, &doc) != 0 ||
             strcmp(assay_status_name(status),
                    json_text(wanted, "status", "")) != 0;
    assay_doc_free(doc);
  }
  return count;
}

static void *busy(void *argument) {
  long *count = argument;
  while (!stop) *count += wrong();
  return NULL;
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "fork";
  long passed = 0, failed = 0, background = 0;
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
    if (waitpid(child, &result, 0) == child && WIFEXITED(result) &&
        WEXITSTATUS(result) == 0) {
      passed++;
    } else {
      failed++;
      printf("FAILED child %d: %s %d\n", i,
             WIFSIGNALED(result) ? "signal" : "exit code",
             WIFSIGNALED(result) ? WTERMSIG(result) : WEXITSTATUS(result));
    }
  }
  stop = 1;
  pthread_join(thread, NULL);
  if (background == 0 && wrong() == 0) {
    passed++;
  } else {
    failed++;
    puts("FAILED the parent gives other answers");
  }
  case_table_close(&table);
  printf("suite %s: %ld passed, %ld failed, 0 skipped\n", suite, passed,
         failed);
  return failed == 0 ? 0 : 1;
}
