/* bench.h - shared by the files of `bench`, with the rows of each. */
#ifndef ASSAY_BENCHMARKS_BENCH_H
#define ASSAY_BENCHMARKS_BENCH_H

#include <assay.h>
#include <stddef.h>

#include "measure.h"

/** Whether the command line selects this row. */
int wanted(const char *name);
/** Compares and reports, if the row is selected. */
void row(const char *name, work *ours, void *our_context, work *baseline,
         void *baseline_context, size_t rounds, size_t calls);

/** Returns a verifier of a configuration, which is freed. */
assay_verifier *verifier_new(char *config);
/** Reads and frees a document as a host does; stops unless the status is the
 * expected one. */
void use(assay_doc *doc, assay_status status, assay_status expected);

/** Measure and report: receipts and triage, App Attest, access tokens. */
void receipt_rows(void);
void attest_rows(void);
void token_rows(void);

#endif
