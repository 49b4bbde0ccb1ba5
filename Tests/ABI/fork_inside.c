/*
 * fork_inside.c - a child forked at any moment can use the library (JWS-105).
 *
 *   fork_inside CASES.json [SUITE] [FORKS]
 *
 * FORKS forks in each of four ways, with 0 to 3 threads inside calls meanwhile:
 *
 *   first   a new process each time: one thread uses the library for the first
 *           time while another forks, after a random delay;
 *   cold    threads make verifiers and verify with them;
 *   warm    threads verify with one verifier that has proven everything;
 *   storm   two threads fork as fast as they can while the others verify.
 *
 * Every child makes the same calls under an alarm that is shorter than the time
 * after which a call stops waiting for a fork. No fork may take long, and a
 * storm of forks must not keep calls from running.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "report.h"

enum { SECONDS = 4, THREADS = 3, SAMPLES = 16, LONGEST_FORK_MS = 2000 };

static struct case_table table; /* later with the verifiers of the samples */
static const cJSON *samples[SAMPLES];
static int sample_count;
static atomic_int stop;
static atomic_long calls, wrong_answers;

static void expect(int met, const char *what, long figure) {
  expect_that(met, "%s: %ld", what, figure);
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- calls --------------------------------------------------------------- */

/* Chooses one accepted case of every call and kind of evidence. */
static void choose_samples(void) {
  const cJSON *item;
  cJSON_ArrayForEach(item, table.cases) {
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
    int i = 0;
    if (strcmp(json_text(wanted, "status", ""), "ok") != 0 ||
        cJSON_HasObjectItem(item, "evidence") ||
        json_text(item, "verifier", NULL) == NULL)
      continue;
    while (i < sample_count && (strcmp(json_text(samples[i], "call", ""),
                                       json_text(item, "call", "")) != 0 ||
                                strcmp(json_text(samples[i], "kind", ""),
                                       json_text(item, "kind", "")) != 0))
      i++;
    if (i == sample_count && i < SAMPLES) samples[sample_count++] = item;
  }
}

/* Drops the rest of the table, so that a fork copies less. */
static int keep_samples(void) {
  cJSON *root = cJSON_CreateObject(), *kept = cJSON_CreateArray();
  int i;
  cJSON_AddItemToObject(
      root, "verifiers",
      cJSON_Duplicate(
          cJSON_GetObjectItemCaseSensitive(table.root, "verifiers"), 1));
  for (i = 0; i < sample_count; i++) {
    cJSON *copy = cJSON_Duplicate(samples[i], 1);
    cJSON_AddItemToArray(kept, copy);
    samples[i] = copy;
  }
  cJSON_AddItemToObject(root, "cases", kept);
  cJSON_Delete(table.root);
  table.root = root;
  table.cases = kept;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return sample_count > 0;
}

static int answers(const struct case_table *with, int sample) {
  assay_status status = -1;
  assay_doc *doc = NULL;
  int good = case_run(with, samples[sample], &status, &doc) == 0 &&
             status == ASSAY_OK && assay_doc_json(doc, NULL) != NULL;
  assay_doc_free(doc);
  return good;
}

/* Makes a new verifier and one call, and frees everything. */
static int answers_cold(int sample) {
  const char *names[1];
  assay_verifier *verifiers[1];
  struct case_table own = table;
  int good;
  own.verifier_names = names;
  own.verifiers = verifiers;
  own.verifier_count = 0;
  good = case_table_build(&own, json_text(samples[sample], "verifier", "")) ==
             0 &&
         answers(&own, sample);
  case_table_clear(&own);
  return good;
}

/* Makes calls with pauses, so that the children get a processor too. */
static void *busy(void *cold) {
  const struct timespec pause = {0, 100000};
  int sample = 0;
  while (!stop) {
    int good = answers(&table, sample) && (!cold || answers_cold(sample));
    calls++;
    if (!good) wrong_answers++;
    sample = (sample + 1) % sample_count;
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* ---- forks --------------------------------------------------------------- */

static atomic_long longest_fork; /* in us */

static pid_t timed_fork(void) {
  int64_t begin = now_us();
  pid_t child = fork();
  long took = (long)(now_us() - begin);
  if (child != 0 && took > longest_fork) longest_fork = took;
  if (child == 0) alarm(SECONDS);
  return child;
}

static int ended_well(pid_t child) {
  int result = 0;
  return child > 0 && waitpid(child, &result, 0) == child &&
         WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static void *first_use(void *sample) {
  return answers_cold(*(int *)sample) ? sample : NULL;
}

/* Forks during the first use, in a process that has not called the library. */
static int fork_during_first_use(int round) {
  int mine = round % sample_count;
  int childs = (round / sample_count + round) % sample_count;
  int64_t delay = rand_r(&(unsigned){(unsigned)round}) % 2500;
  int64_t begin = now_us();
  pthread_t thread;
  void *good = NULL;
  pid_t child;
  if (pthread_create(&thread, NULL, first_use, &mine) != 0) return 0;
  while (now_us() - begin < delay) continue;
  child = timed_fork();
  if (child == 0) _exit(answers_cold(childs) ? 0 : 1);
  if (!ended_well(child)) return 0;
  pthread_join(thread, &good);
  return good != NULL && longest_fork < LONGEST_FORK_MS * 1000;
}

static void check_first(long forks) {
  long bad = 0, round;
  for (round = 0; round < forks; round++) {
    pid_t process = fork();
    if (process == 0) {
      alarm(2 * SECONDS);
      _exit(fork_during_first_use((int)round) ? 0 : 1);
    }
    bad += !ended_well(process);
  }
  expect(bad == 0, "children forked during first use that fail", bad);
}

static void check_inside(long forks, int cold, const char *what) {
  pthread_t threads[THREADS];
  long bad = 0, round;
  int i;
  stop = 0;
  for (i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, busy, cold ? &table : NULL);
  for (round = 0; round < forks; round++) {
    int sample = (int)(round % sample_count);
    pid_t child = timed_fork();
    if (child == 0)
      _exit(answers(&table, sample) && (!cold || answers_cold(sample)) ? 0 : 1);
    bad += !ended_well(child);
  }
  stop = 1;
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  expect(bad == 0, what, bad);
}

/* libcrypto frees the state of a thread when the thread ends, under a lock that
 * a child needs if its only thread has not called the library before. */
static atomic_int ending;

static void *calls_and_ends(void *sample) {
  void *good = answers(&table, *(int *)sample) ? sample : NULL;
  ending = 1;
  return good;
}

static void *forks_at_an_end(void *given) {
  static unsigned seed = 7;
  int sample = *(int *)given;
  int64_t begin, delay = rand_r(&seed) % 40;
  pid_t child;
  while (!ending) sched_yield();
  begin = now_us();
  while (now_us() - begin < delay) continue;
  child = timed_fork();
  if (child == 0) _exit(answers(&table, sample) ? 0 : 1);
  return ended_well(child) ? given : NULL;
}

static void check_ends(long forks) {
  long bad = 0, round;
  for (round = 0; round < forks; round++) {
    int sample = (int)(round % sample_count);
    pthread_t caller, forker;
    void *called = NULL, *forked = NULL;
    ending = 0;
    if (pthread_create(&forker, NULL, forks_at_an_end, &sample) != 0 ||
        pthread_create(&caller, NULL, calls_and_ends, &sample) != 0)
      exit(2);
    pthread_join(caller, &called);
    pthread_join(forker, &forked);
    bad += called == NULL || forked == NULL;
  }
  expect(bad == 0, "children forked at the end of a thread that fail", bad);
}

static void *forking(void *forks) {
  long round, bad = 0;
  for (round = 0; round < *(long *)forks; round++) {
    pid_t child = timed_fork();
    if (child == 0)
      _exit(answers(&table, (int)(round % sample_count)) ? 0 : 1);
    bad += !ended_well(child);
  }
  wrong_answers += bad;
  return NULL;
}

static void check_storm(long forks) {
  pthread_t threads[THREADS], second;
  long before = calls, half = forks / 2;
  int i;
  stop = 0;
  for (i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, busy, NULL);
  pthread_create(&second, NULL, forking, &half);
  forking(&half);
  pthread_join(second, NULL);
  stop = 1;
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  /* Each call waits for one fork at most. */
  expect(calls - before >= forks / 2, "calls during a storm of forks",
         calls - before);
}

/* Prints how long the part before took. */
static void lap(const char *what) {
  static int64_t last;
  int64_t now = now_us();
  if (last != 0) printf("%s: %ld ms\n", what, (long)((now - last) / 1000));
  last = now;
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "fork-inside";
  long forks = argc > 3 ? atol(argv[3]) : 2000;
  int i;
  if (argc < 2 || case_table_read(&table, argv[1]) != 0) return 2;
  choose_samples();
  if (!keep_samples()) return 2;
  lap("");
  /* Must run before this process calls the library. */
  check_first(forks);
  lap("first use");
  for (i = 0; i < sample_count; i++) {
    const char *name = json_text(samples[i], "verifier", "");
    if (case_table_verifier(&table, name) == NULL &&
        case_table_build(&table, name) != 0)
      return 2;
    if (!answers(&table, i)) return 2;
  }
  lap("making the verifiers");
  check_inside(forks, 1, "children forked inside cold calls that fail");
  lap("cold");
  check_inside(forks, 0, "children forked inside warm calls that fail");
  lap("warm");
  check_ends(forks);
  lap("ends");
  check_storm(forks);
  lap("storm");
  expect(wrong_answers == 0, "threads' and children's wrong answers",
         wrong_answers);
  expect(longest_fork < LONGEST_FORK_MS * 1000, "longest fork in us",
         longest_fork);
  printf("%d samples, %ld calls beside, longest fork %ld us\n", sample_count,
         (long)calls, longest_fork);
  case_table_close(&table);
  return finish(suite);
}
