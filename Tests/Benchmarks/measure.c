/* measure.c - see measure.h. */
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 1001 };

static cpu_set_t every_core;
static int every_core_known;

void demand(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "benchmark: %s failed\n", what);
  exit(1);
}

static double read_clock(clockid_t clock) {
  struct timespec at;
  demand(clock_gettime(clock, &at) == 0, "clock_gettime");
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

long long now_ms(void) { return (long long)(read_clock(CLOCK_REALTIME) / 1e6); }
double wall_ns(void) { return read_clock(CLOCK_MONOTONIC); }
double thread_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int pin_to_core(int core) {
  cpu_set_t one;
  if (!every_core_known)
    every_core_known =
        sched_getaffinity(0, sizeof every_core, &every_core) == 0;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

void unpin(void) {
  if (every_core_known) sched_setaffinity(0, sizeof every_core, &every_core);
}

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double quantile(double *values, size_t count, double q) {
  demand(count > 0, "a measurement without values");
  qsort(values, count, sizeof *values, by_size);
  return values[(size_t)(q * (double)(count - 1) + 0.5)];
}

static double time_round(nanoseconds *clock, work *run, void *context,
                         size_t first, size_t calls) {
  double start = clock();
  size_t index;
  for (index = 0; index < calls; index++) run(context, first + index);
  return (clock() - start) / (double)calls;
}

struct comparison compare(work *ours, void *our_context, work *baseline,
                          void *baseline_context, size_t rounds, size_t calls) {
  return compare_by(thread_ns, ours, our_context, baseline, baseline_context,
                    rounds, calls);
}

struct comparison compare_by(nanoseconds *clock, work *ours, void *our_context,
                             work *baseline, void *baseline_context,
                             size_t rounds, size_t calls) {
  static double mine[MOST_ROUNDS], theirs[MOST_ROUNDS], ratios[MOST_ROUNDS];
  struct comparison found;
  size_t round;
  demand(rounds <= MOST_ROUNDS, "a smaller number of rounds");
  time_round(clock, ours, our_context, 0, calls);
  time_round(clock, baseline, baseline_context, 0, calls);
  for (round = 0; round < rounds; round++) {
    size_t first = (round + 1) * calls;
    mine[round] = time_round(clock, ours, our_context, first, calls);
    theirs[round] = time_round(clock, baseline, baseline_context, first, calls);
    ratios[round] = mine[round] / theirs[round];
  }
  found.ours = quantile(mine, rounds, 0.5);
  found.baseline = quantile(theirs, rounds, 0.5);
  found.ratio = quantile(ratios, rounds, 0.5);
  found.low = quantile(ratios, rounds, 0.25);
  found.high = quantile(ratios, rounds, 0.75);
  return found;
}

void report(const char *name, const struct comparison *found) {
  printf("%s\t%.0f\t%.0f\t%.4f\t%.4f\t%.4f\n", name, found->ours,
         found->baseline, found->ratio, found->low, found->high);
  fflush(stdout);
}
