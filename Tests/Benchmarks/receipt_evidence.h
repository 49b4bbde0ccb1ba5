/*
 * receipt_evidence.h - receipts for the benchmarks, made at run time.
 *
 * The receipts have the form and sizes of Apple's: RSA-2048 throughout, a
 * transaction receipt of about 4 kB in base64, an app receipt with a hundred
 * purchases. libcrypto makes certificates and CMS, so that no part of Assay is
 * measured against itself.
 */
#ifndef ASSAY_BENCHMARKS_RECEIPT_EVIDENCE_H
#define ASSAY_BENCHMARKS_RECEIPT_EVIDENCE_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stddef.h>

#include "evidence.h"

/** Root, intermediate and leaf of receipts. */
struct receipt_line {
  struct issuer root, intermediate, leaf;
};

/** The text that a client sends, and the inputs of a bare check of it. */
struct receipt {
  const struct receipt_line *line;
  char *text; /**< base64 */
  size_t length;
  struct bytes decoded; /**< of an app receipt: the container */
  unsigned char *signed_bytes; /**< of a transaction receipt */
  size_t signed_length;
  struct bytes signature;
};

struct receipt_line receipt_line_new(void);
/** Returns a version 3 transaction receipt of this bundle id; `n` makes it
 * distinct. */
struct receipt transaction_receipt_new(const struct receipt_line *line,
                                       const char *bundle_id, unsigned n);
/** Returns an app receipt, SHA-1, with this many purchases. */
struct receipt app_receipt_new(const struct receipt_line *line,
                               const char *bundle_id, unsigned purchases);
/** Returns the input that a cracking tool on the device sends. */
struct receipt cracker_new(unsigned n);

/** Returns a configuration that trusts this line's root for receipts and
 * contains its intermediate, which transaction receipts do not carry.
 * Allocated. */
char *receipt_configuration(const struct receipt_line *line);

#endif
