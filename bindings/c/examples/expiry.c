/*
 * expiry.c - check whether a stored purchase is still in force.
 *
 *   expiry EXPIRES [GRACE [REVOKED [NOW]]]
 *
 * Dates are milliseconds since 1970 UTC, "-" for none, "forever" for a purchase
 * without end. The call needs no verifier and makes no document: it is meant
 * for every paid request. Exit code 0: in force. 1: not. 2: incorrect usage.
 *
 *   cc expiry.c -o expiry $(pkg-config --cflags --libs assay)
 */
#include <assay.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t date(int argc, char **argv, int at, int64_t absent) {
  if (at >= argc || strcmp(argv[at], "-") == 0) return absent;
  if (strcmp(argv[at], "forever") == 0) return INT64_MAX;
  return strtoll(argv[at], NULL, 10);
}

int main(int argc, char **argv) {
  int64_t expires, grace, revoked, now;
  assay_status status;
  if (argc < 2) {
    fputs("usage: expiry EXPIRES [GRACE [REVOKED [NOW]]]\n", stderr);
    return 2;
  }
  expires = date(argc, argv, 1, ASSAY_NO_DATE);
  grace = date(argc, argv, 2, ASSAY_NO_DATE);
  revoked = date(argc, argv, 3, ASSAY_NO_DATE);
  now = date(argc, argv, 4, (int64_t)time(NULL) * 1000);
  status = assay_check_expiry(expires, grace, revoked, now);
  printf("%s at %" PRId64 " (%s)\n",
         status == ASSAY_OK ? "in force" : "not in force", now,
         assay_status_name(status));
  return status == ASSAY_OK ? 0 : 1;
}
