/*
 * evidence.h - evidence for the benchmarks, made at run time.
 *
 * The evidence has the form and sizes of Apple's: P-384 root and intermediate,
 * P-256 leaf, a header of about 4.4 kB, a transaction of about 5.3 kB. It
 * contains no genuine certificate or payload. libcrypto makes the certificates,
 * so that no part of Assay is measured against itself.
 */
#ifndef ASSAY_BENCHMARKS_EVIDENCE_H
#define ASSAY_BENCHMARKS_EVIDENCE_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stddef.h>

#include "der.h"

/** A certificate and the private key of its public key. */
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

/** A compact JWS, and the inputs of a bare check of it. */
struct jws {
  const struct chain *chain;
  char *text; /**< the whole JWS, NUL-terminated */
  size_t length;
  size_t signed_length; /**< header, dot, payload */
  unsigned char signature[64];
};

/** Returns a certificate without extensions and signature, valid from some days
 * before now to some after. The subject is alternately fields and values, with
 * NULL at the end; without `issuer` the certificate is its own issuer. */
struct issuer certificate_new(EVP_PKEY *key, const char *const *subject,
                              const struct issuer *issuer, long days_before,
                              long days_after);
/** Adds an extension, given in the syntax of openssl.cnf. */
void certificate_extend(X509 *certificate, const char *name, const char *value);
/** Gives a certificate basicConstraints, key usage and a marker of Apple's
 * (NULL or empty: none), and signs it; without `issuer` with its own key. */
void certificate_sign(const struct issuer *made, const struct issuer *issuer,
                      int is_authority, const char *usage, const char *marker,
                      const EVP_MD *digest);
/** Returns the certificate's DER in base64. Allocated. */
char *certificate_text(X509 *certificate);

/** Returns a signature over a text. */
struct bytes signature_new(EVP_PKEY *key, const EVP_MD *digest,
                           const void *text, size_t length);
/** Returns a CMS container over a content, with the certificates of its chain,
 * signer first; `signature`, if not NULL, receives the signature. */
struct bytes cms_new(const struct issuer *const chain[3], const EVP_MD *digest,
                     const struct bytes *content, struct bytes *signature);

/** Returns a root of the test authority, valid around now. */
struct issuer root_new(void);
/** Returns an intermediate below the root, with Apple's marker. */
struct issuer intermediate_new(const struct issuer *root);
/** Returns a leaf with Apple's marker, and the chain from it to the root. */
struct chain chain_new(const struct issuer *root,
                       const struct issuer *intermediate);

/** Returns the JWS over a payload, signed by the chain's leaf. */
struct jws jws_sign(const struct chain *chain, const char *payload);

/** Return payloads whose dates lie shortly before now. Allocated. */
char *transaction_payload(void);
char *renewal_payload(void);
/** Returns a notification with a transaction and a renewal info inside. */
char *notification_payload(const struct jws *transaction,
                           const struct jws *renewal);

/** Returns a configuration that trusts this root; chains < 0 keeps the default
 * size of the cache. Allocated. */
char *configuration(const struct issuer *root, int chains);

#endif
