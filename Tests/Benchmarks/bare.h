/*
 * bare.h - the same checks with libcrypto alone: the baseline.
 *
 * This is what a careful C program without Assay would do, and no more: it
 * looks at no marker, no payload and no identity.
 */
#ifndef ASSAY_BENCHMARKS_BARE_H
#define ASSAY_BENCHMARKS_BARE_H

#include <openssl/x509.h>

#include "evidence.h"

/** ES256 with a ready key: r and s to DER, EVP_DigestVerify over the text. */
void bare_es256(EVP_PKEY *key, const struct jws *jws);

/** A store that trusts this root, at the time of the evidence. */
X509_STORE *bare_store(const struct issuer *root);
/** x5c from base64, d2i_X509 three times, X509_verify_cert, then ES256. */
void bare_chain(X509_STORE *store, const struct jws *jws);

#endif
