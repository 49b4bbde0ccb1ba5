/*
 * measure.h - time two pieces of work against each other.
 *
 * Times that stand alone say as much about the machine as about the code. Here
 * every figure has a baseline that is measured in the same run, round by round
 * in turn, and what counts is the ratio.
 */
#ifndef ASSAY_BENCHMARKS_MEASURE_H
#define ASSAY_BENCHMARKS_MEASURE_H

#include <stddef.h>

/** One piece of work: does whatever belongs to call number `index`. */
typedef void work(void *context, size_t index);

/** A clock. */
typedef double nanoseconds(void);

/** What a comparison found. Times are nanoseconds per call, by its clock. */
struct comparison {
  double ours;     /**< median over the rounds */
  double baseline; /**< median over the rounds */
  double ratio;    /**< median of the rounds' own ratios */
  double low;      /**< the middle half of the rounds' ratios: from */
  double high;     /**< ... to */
};

/** Stop the program with a message unless `holds`. */
void demand(int holds, const char *what);

/** Milliseconds since 1970 UTC. */
long long now_ms(void);
/** Nanoseconds of a clock that only goes forward. */
double wall_ns(void);
/** Nanoseconds that the calling thread has spent on a core. */
double thread_ns(void);

/** Keep the calling thread on one core. Returns 0 where that is refused. */
int pin_to_core(int core);
/** Let the calling thread use every core that the process may use. */
void unpin(void);

/** The middle of some numbers, which it sorts; q in 0 ... 1. */
double quantile(double *values, size_t count, double q);

/** Run `ours` and `baseline` in turn: `rounds` rounds of `calls` calls each, after
 * one that does not count. By CPU time. */
struct comparison compare(work *ours, void *our_context, work *baseline,
                          void *baseline_context, size_t rounds, size_t calls);
/** The same by another clock: wall_ns, for work that waits. */
struct comparison compare_by(nanoseconds *clock, work *ours, void *our_context,
                             work *baseline, void *baseline_context,
                             size_t rounds, size_t calls);

/** Print one finding: name, ours, baseline, ratio and spread, tab-separated. */
void report(const char *name, const struct comparison *found);

#endif
