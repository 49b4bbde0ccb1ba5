/* bench_tokens.h - the rows of access tokens. */
#ifndef ASSAY_BENCHMARKS_BENCH_TOKENS_H
#define ASSAY_BENCHMARKS_BENCH_TOKENS_H

#include "bench_receipts.h"

/** Measure and report. */
void token_rows(const struct selection *selection);

#endif
