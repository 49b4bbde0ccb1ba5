/*
 * report.h - counts the expectations of a test program; prints the line that
 * tools/check.py reads.
 */
#ifndef ASSAY_TESTS_REPORT_H
#define ASSAY_TESTS_REPORT_H

#include <stdarg.h>
#include <stdio.h>

static long passed, failed, skipped;

/** Counts one expectation; prints it if not met. Returns whether it is met. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline int expect_that(int met, const char *what, ...) {
  va_list details;
  if (met) {
    passed++;
    return 1;
  }
  failed++;
  va_start(details, what);
  fputs("FAILED ", stdout);
  vprintf(what, details);
  va_end(details);
  putchar('\n');
  return 0;
}

/** Prints the counts. Returns 0 if an expectation was met and none failed. */
static inline int finish(const char *suite) {
  printf("suite %s: %ld passed, %ld failed, %ld skipped\n", suite, passed, failed, skipped);
  return failed == 0 && passed > 0 ? 0 : 1;
}

#endif /* ASSAY_TESTS_REPORT_H */
