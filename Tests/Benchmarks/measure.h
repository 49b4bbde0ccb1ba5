/*
 * measure.h - times two pieces of work against each other.
 *
 * A time by itself depends as much on the machine as on the code. Here every time
 * has a baseline that is measured in the same run, alternately round by round,
 * and the result is the ratio.
 */
#ifndef ASSAY_BENCHMARKS_MEASURE_H
#define ASSAY_BENCHMARKS_MEASURE_H

#include <stddef.h>

/** One piece of work: makes call number `index`. */
typedef void work(void *context, size_t index);

/** A clock, in nanoseconds. */
typedef double nanoseconds(void);

/** The result of a comparison. Times are nanoseconds per call, by its clock. */
struct comparison {
  double ours;     /**< median over the rounds */
  double baseline; /**< median over the rounds */
  double ratio;    /**< median of the rounds' own ratios */
  double low;      /**< first quartile of the rounds' ratios */
  double high;     /**< third quartile */
};

/** Stops the program with a message unless `holds`. */
void demand(int holds, const char *what);

/** Returns milliseconds since 1970 UTC. */
long long now_ms(void);
/** Returns nanoseconds of a clock that only goes forward. */
double wall_ns(void);
/** Returns the nanoseconds that the calling thread has spent on a core. */
double thread_ns(void);

/** Keeps the calling thread on one core. Returns 0 if the system refuses
 * that. */
int pin_to_core(int core);
/** Lets the calling thread use every core that the process may use. */
void unpin(void);

/** Sorts some numbers and returns their quantile q, from 0 to 1. */
double quantile(double *values, size_t count, double q);

/** Runs `ours` and `baseline` alternately: `rounds` rounds of `calls` calls
 * each, after one that does not count. By CPU time. */
struct comparison compare(work *ours, void *our_context, work *baseline,
                          void *baseline_context, size_t rounds, size_t calls);
/** Compares like compare() by another clock: wall_ns, for work that waits. */
struct comparison compare_by(nanoseconds *clock, work *ours, void *our_context,
                             work *baseline, void *baseline_context,
                             size_t rounds, size_t calls);

/** Prints one comparison: name, ours, baseline, ratio and spread,
 * tab-separated. */
void report(const char *name, const struct comparison *found);

#endif
