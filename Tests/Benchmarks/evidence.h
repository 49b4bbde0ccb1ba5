/*
 * evidence.h - evidence for the benchmarks, made when they run.
 *
 * It has the shape and the sizes of Apple's: P-384 root and intermediate, P-256
 * leaf, a header of about 4.4 kB, a transaction of about 5.3 kB. No genuine
 * certificate or payload is part of it. libcrypto makes the certificates, so
 * that no part of Assay is measured against itself.
 */
#ifndef ASSAY_BENCHMARKS_EVIDENCE_H
#define ASSAY_BENCHMARKS_EVIDENCE_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stddef.h>

#include "der.h"

/** A certificate and the key that it is about. */
struct issuer {
  EVP_PKEY *key;
  X509 *certificate;
};

/** Leaf, intermediate, root, as a JWS carries them. */
struct chain {
  EVP_PKEY *leaf_key;
  char *x5c[3];  /**< base64 DER, leaf first */
  char *header;  /**< the header segment of a JWS */
};

/** A compact JWS and what a bare check of it needs. */
struct jws {
  const struct chain *chain;
  char *text; /**< the whole, NUL-terminated */
  size_t length;
  size_t signed_length; /**< header, dot, payload */
  unsigned char signature[64];
};

/** A certificate that still lacks its extensions and its signature, valid from
 * some days before now to some after. The subject is fields and their values in
 * turn, NULL at the end; without an issuer it is its own. */
struct issuer certificate_new(EVP_PKEY *key, const char *const *subject,
                              const struct issuer *issuer, long days_before,
                              long days_after);
/** Add an extension, in the words of openssl.cnf. */
void certificate_extend(X509 *certificate, const char *name, const char *value);
/** Give a certificate basicConstraints, key usage and a marker of Apple's that is
 * NULL or empty, and sign it; without an issuer it is its own. */
void certificate_sign(const struct issuer *made, const struct issuer *issuer,
                      int is_authority, const char *usage, const char *marker,
                      const EVP_MD *digest);
/** Its DER in base64. Allocated. */
char *certificate_text(X509 *certificate);

/** A signature over a text. */
struct bytes signature_new(EVP_PKEY *key, const EVP_MD *digest,
                           const void *text, size_t length);
/** A CMS container over a content, with the certificates of its chain, signer
 * first; `signature`, if not NULL, receives its signature. */
struct bytes cms_new(const struct issuer *const chain[3], const EVP_MD *digest,
                     const struct bytes *content, struct bytes *signature);

/** A root of the test authority, valid around now. */
struct issuer root_new(void);
/** An intermediate below it with Apple's marker. */
struct issuer intermediate_new(const struct issuer *root);
/** A leaf with Apple's marker, and the chain from it to the root. */
struct chain chain_new(const struct issuer *root,
                       const struct issuer *intermediate);

/** The JWS over a payload, signed by the chain's leaf. */
struct jws jws_sign(const struct chain *chain, const char *payload);

/** Payloads. Dates lie shortly before now. Allocated. */
char *transaction_payload(void);
char *renewal_payload(void);
/** A notification with a transaction and a renewal inside it. */
char *notification_payload(const struct jws *transaction,
                           const struct jws *renewal);

/** A configuration that trusts this root; chains < 0 leaves the cache as it
 * is by default. Allocated. */
char *configuration(const struct issuer *root, int chains);

#endif
