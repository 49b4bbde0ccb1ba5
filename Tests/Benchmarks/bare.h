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

/** A signature with a ready key over ready bytes. */
void bare_signature(EVP_PKEY *key, const EVP_MD *digest, const void *signature,
                    size_t signature_length, const void *text, size_t length);
/** ES256 with a ready key: r and s to DER, EVP_DigestVerify over the text. */
void bare_es256(EVP_PKEY *key, const struct jws *jws);

/** A store that trusts this root, at the time of the evidence. */
X509_STORE *bare_store(const struct issuer *root);
/** One that asks for no purpose, and for this security level if it is not
 * negative, whatever the default. */
X509_STORE *bare_store_any(const struct issuer *root, int level);
/** A container: CMS, chain and signature. */
void bare_cms(X509_STORE *store, const unsigned char *der, size_t length);
/** x5c from base64, d2i_X509 three times, X509_verify_cert, then ES256. */
void bare_chain(X509_STORE *store, const struct jws *jws);

#endif
