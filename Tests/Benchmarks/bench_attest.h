/* bench_attest.h - the rows of App Attest. */
#ifndef ASSAY_BENCHMARKS_BENCH_ATTEST_H
#define ASSAY_BENCHMARKS_BENCH_ATTEST_H

#include "bench_receipts.h"

/** Measure and report. */
void attest_rows(const struct selection *selection);

#endif
