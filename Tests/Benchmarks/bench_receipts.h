/* bench_receipts.h - the rows of receipts and of triage. */
#ifndef ASSAY_BENCHMARKS_BENCH_RECEIPTS_H
#define ASSAY_BENCHMARKS_BENCH_RECEIPTS_H

#include <stddef.h>

/** Which rows are wanted, and how many rounds of them. */
struct selection {
  int (*wanted)(const char *name);
  size_t (*rounds)(size_t count);
};

/** Measure and report. */
void receipt_rows(const struct selection *selection);

#endif
