/* bench.h - what the files of `bench` share, and the rows of each. */
#ifndef ASSAY_BENCHMARKS_BENCH_H
#define ASSAY_BENCHMARKS_BENCH_H

#include <assay.h>
#include <stddef.h>

#include "measure.h"

/** Whether a row was asked for. */
int wanted(const char *name);
/** Compare and report, if the row was asked for. */
void row(const char *name, work *ours, void *our_context, work *baseline,
         void *baseline_context, size_t rounds, size_t calls);

/** A verifier of a configuration, which it frees. */
assay_verifier *verifier_new(char *config);
/** What a host does with an answer: read it, free it. */
void use(assay_doc *doc, assay_status status, assay_status expected);

/** Measure and report: receipts and triage, App Attest, access tokens. */
void receipt_rows(void);
void attest_rows(void);
void token_rows(void);

#endif
