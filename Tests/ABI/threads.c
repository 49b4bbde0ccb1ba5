/*
 * threads.c - shares the verifiers of the case table between four threads.
 *
 *   threads CASES.json [SUITE [ROUNDS]]
 *
 * Every thread runs all cases, good and forged mixed, three times or ROUNDS,
 * each from another start, and expects the status that the table names.
 * Documents are made in one thread and freed in another. Every other thread has
 * verifiers of its own, as requests have, and makes new ones again and again:
 * proofs are shared by all verifiers of the process that trust the same
 * certificates (JWS-66).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "report.h"

enum { THREADS = 4, REQUEST = 500 };

struct job {
  const struct case_table *table;
  const cJSON **items;
  int count, number, rounds;
  long passed, failed;
  assay_doc **kept;
};

static void *run(void *argument) {
  struct job *job = argument;
  const struct case_table *table = job->table;
  struct case_table own;
  int i;
  case_table_share(&own, job->table);
  if (job->number % 2 == 1) table = &own;
  for (i = 0; i < job->count * job->rounds; i++) {
    int at = (i + job->number * job->count / THREADS) % job->count;
    const cJSON *item = job->items[at];
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
    assay_status status = -1;
    assay_doc *doc = NULL;
    if (table == &own && i % REQUEST == 0) {
      case_table_clear(&own);
      if (case_table_build_all(&own) != 0) exit(2);
    }
    if (case_run(table, item, &status, &doc) == 0 &&
        strcmp(assay_status_name(status), json_text(wanted, "status", "")) ==
            0 &&
        (doc == NULL || assay_doc_status(doc) == status)) {
      job->passed++;
    } else {
      job->failed++;
      printf("FAILED thread %d, %s: %s\n", job->number,
             json_text(item, "name", "?"), assay_status_name(status));
    }
    assay_doc_free(job->kept[at]);
    job->kept[at] = doc;
  }
  case_table_close(&own);
  return NULL;
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "threads";
  const int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 3;
  struct case_table table;
  struct job jobs[THREADS];
  pthread_t threads[THREADS];
  const cJSON **items;
  const cJSON *item;
  int i, j, count = 0;
  if (argc < 2 || case_table_open(&table, argv[1]) != 0) return 2;
  items = calloc((size_t)cJSON_GetArraySize(table.cases), sizeof *items);
  if (items == NULL) return 2;
  cJSON_ArrayForEach(item, table.cases) items[count++] = item;
  for (i = 0; i < THREADS; i++) {
    struct job job = {&table, items, count, i, rounds, 0, 0, NULL};
    job.kept = calloc((size_t)count, sizeof *job.kept);
    if (job.kept == NULL) return 2;
    jobs[i] = job;
  }
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) return 2;
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    passed += jobs[i].passed;
    failed += jobs[i].failed;
    for (j = 0; j < count; j++) assay_doc_free(jobs[i].kept[j]);
    free(jobs[i].kept);
  }
  free((void *)items);
  case_table_close(&table);
  return finish(suite);
}
