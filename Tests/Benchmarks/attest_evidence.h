/*
 * attest_evidence.h - App Attest evidence for the benchmarks, made at run time.
 *
 * Attestations with their receipts, and assertions, have the form and sizes of
 * Apple's. libcrypto makes certificates and CMS.
 */
#ifndef ASSAY_BENCHMARKS_ATTEST_EVIDENCE_H
#define ASSAY_BENCHMARKS_ATTEST_EVIDENCE_H

#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "der.h"
#include "evidence.h"

/** The two chains of App Attest: of attestations, and of receipts. */
struct attest_line {
  struct issuer root, intermediate;
  struct issuer receipt_root, receipt_intermediate, receipt_leaf;
};

/** The evidence that a device sends for one key, and the inputs of the bare
 * checks. */
struct attested {
  const struct attest_line *line;
  EVP_PKEY *key;
  X509 *leaf;
  unsigned char *leaf_body; /**< the part of the leaf that is signed */
  size_t leaf_body_length;
  const ASN1_BIT_STRING *leaf_signature;
  unsigned char point[65];
  unsigned char key_id[32];
  struct bytes attestation;
  struct bytes receipt;   /**< the container */
  struct bytes content;   /**< the bytes that the receipt's signature covers */
  struct bytes signature; /**< the receipt's signature */
};

/** An assertion, and its parts. */
struct assertion {
  struct bytes object;
  unsigned char nonce[32];
  struct bytes signature;
};

/** The client data of all evidence made here. */
extern const char attest_client_data[];
/** The App ID of all evidence made here. */
extern const char attest_app_id[];

struct attest_line attest_line_new(void);
struct attested attested_new(const struct attest_line *line);
struct assertion assertion_new(const struct attested *device,
                               unsigned counter);

/** Returns a configuration that trusts this line; chains < 0 keeps the default
 * size of the cache. Allocated. */
char *attest_configuration(const struct attest_line *line, int chains);

#endif
