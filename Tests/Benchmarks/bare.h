/*
 * bare.h - the baseline: the same checks with libcrypto only.
 *
 * The functions check what a careful C program without Assay would check, and
 * no more: no marker, no payload and no identity.
 */
#ifndef ASSAY_BENCHMARKS_BARE_H
#define ASSAY_BENCHMARKS_BARE_H

#include <openssl/x509.h>

#include "evidence.h"

/** Verifies a signature with a parsed key over decoded bytes. */
void bare_signature(EVP_PKEY *key, const EVP_MD *digest, const void *signature,
                    size_t signature_length, const void *text, size_t length);
/** Verifies ES256 with a parsed key: r and s to DER, EVP_DigestVerify over the
 * text. */
void bare_es256(EVP_PKEY *key, const struct jws *jws);

/** Returns a store that trusts this root, at the time of the evidence. */
X509_STORE *bare_store(const struct issuer *root);
/** Returns a store that requires no purpose, and this security level if `level`
 * is not negative, whatever libcrypto's default. */
X509_STORE *bare_store_any(const struct issuer *root, int level);
/** Verifies a container: CMS, chain and signature. */
void bare_cms(X509_STORE *store, const unsigned char *der, size_t length);
/** Verifies x5c: base64, d2i_X509 three times, X509_verify_cert, then ES256. */
void bare_chain(X509_STORE *store, const struct jws *jws);

#endif
