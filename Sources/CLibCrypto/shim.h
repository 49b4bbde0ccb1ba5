/*
 * What Assay needs of libcrypto, and no more of it than Swift can import: small
 * inline functions over libcrypto's public ones, EVP wherever it has them. What OpenSSL 3
 * and AWS-LC do not have in common is in a header for each.
 */
#ifndef ASSAY_CLIBCRYPTO_SHIM_H
#define ASSAY_CLIBCRYPTO_SHIM_H

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

/* In an object that the Makefile writes and links into what ships; in nothing else.
 * Whether libcrypto is inside too, and if so the package that it is from ("": not
 * Debian's). */
extern const char assay_build_commit[] __attribute__((weak));
extern const char assay_build_compiler[] __attribute__((weak));
extern const int assay_build_has_libcrypto __attribute__((weak));
extern const char assay_build_libcrypto[] __attribute__((weak));

static inline const char *assay_shim_commit(void) {
  return assay_build_commit != NULL ? assay_build_commit : "unknown";
}
static inline const char *assay_shim_compiler(void) {
  return assay_build_compiler != NULL ? assay_build_compiler : "unknown";
}
/* Whether nobody but Assay uses this libcrypto. */
static inline int assay_shim_is_own(void) {
  return &assay_build_has_libcrypto != NULL && assay_build_has_libcrypto;
}
/* The libcrypto in use, text that lives as long as it does: of Debian's that is
 * linked into the library the package and its revision, which security notices name;
 * of any other what it says about itself. */
static inline const char *assay_shim_libcrypto(void) {
  return assay_build_libcrypto != NULL && assay_build_libcrypto[0] != '\0'
             ? assay_build_libcrypto
             : OpenSSL_version(OPENSSL_VERSION);
}

/* Errors of libcrypto's stay in its own thread's queue, which the host may share:
 * what was there before a call is there after it, and nothing else (JWS-102). Not to be
 * nested: AWS-LC counts no marks. */
static inline void assay_shim_begin(void) { (void)ERR_set_mark(); }
static inline void assay_shim_end(void) { (void)ERR_pop_to_mark(); }

/* The digests and the curves, by their places in the tables of each header. */
enum { ASSAY_SHA1, ASSAY_SHA256, ASSAY_SHA384, ASSAY_SHA512, ASSAY_DIGESTS };
enum { ASSAY_P256, ASSAY_P384, ASSAY_CURVES };

/* Each has: struct assay_crypto, in which `digests` is a table of EVP_MD;
 *   assay_shim_open          what is looked up once; NULL: libcrypto lacks some of it
 *   assay_shim_verifier      from a public key, which it frees, what a check begins with
 *   assay_shim_point_key     the public key of an uncompressed point
 *   assay_shim_rsa_key       of a modulus and an exponent
 *   assay_shim_pair          the private key on P-256 of a number and its point
 *   assay_shim_group, _scratch, _keep_secret   P-256 and places for secret numbers
 *   assay_shim_make_signature, assay_shim_make_code
 */
#ifdef OPENSSL_IS_AWSLC
#include "awslc.h"
#elif OPENSSL_VERSION_NUMBER >= 0x30000000L
#include "openssl3.h"
#else
#error "these headers are neither OpenSSL 3's nor AWS-LC's"
#endif

/* A digest. Where libcrypto cannot make one, or lacks what Assay needs (NULL), the process
 * ends, as it does where there is no memory: no octets stand for a digest that was not
 * made. */
static inline void assay_shim_digest(const struct assay_crypto *crypto, int kind,
                                     const unsigned char *bytes, size_t length,
                                     unsigned char *out) {
  int good;
  assay_shim_begin();
  good = crypto != NULL &&
         EVP_Digest(bytes, length, out, NULL, crypto->digests[kind], NULL) == 1;
  assay_shim_end();
  if (!good) abort();
}

/* What checks signatures by the key of an uncompressed point, or NULL when the point is not
 * on the curve. */
static inline EVP_PKEY_CTX *assay_shim_point(const struct assay_crypto *crypto, int curve,
                                             const unsigned char *point, size_t length) {
  EVP_PKEY_CTX *made = NULL;
  assay_shim_begin();
  if (length > 0 && point[0] == POINT_CONVERSION_UNCOMPRESSED)
    made = assay_shim_verifier(crypto, assay_shim_point_key(crypto, curve, point, length));
  assay_shim_end();
  return made;
}

/* The same by an RSA public key of a big-endian modulus and an exponent. It names SHA-1
 * already, which receipts ask for: to name a digest is a twelfth of a check. */
static inline EVP_PKEY_CTX *assay_shim_rsa(const struct assay_crypto *crypto,
                                           const unsigned char *modulus, size_t length,
                                           uint32_t exponent) {
  EVP_PKEY_CTX *made;
  assay_shim_begin();
  made = assay_shim_verifier(crypto, assay_shim_rsa_key(crypto, modulus, length, exponent));
  /* Where SHA-1 is forbidden, SHA-256 is named: under it no digest of SHA-1 fits. */
  if (made != NULL &&
      EVP_PKEY_CTX_set_signature_md(made, crypto->digests[ASSAY_SHA1]) != 1 &&
      EVP_PKEY_CTX_set_signature_md(made, crypto->digests[ASSAY_SHA256]) != 1) {
    EVP_PKEY_CTX_free(made);
    made = NULL;
  }
  assay_shim_end();
  return made;
}

/* 1: the signature verifies over the digest; 0: it does not. Under a point it is DER of r and
 * s, and `named` is -1; under a modulus RSASSA-PKCS1-v1_5, which names the digest, `named`.
 * `key` is only read: threads share it. */
static inline int assay_shim_verify(const struct assay_crypto *crypto, EVP_PKEY_CTX *key,
                                    int named, const unsigned char *digest,
                                    size_t digest_length, const unsigned char *signature,
                                    size_t signature_length) {
  EVP_PKEY_CTX *once;
  int good;
  assay_shim_begin();
  once = EVP_PKEY_CTX_dup(key);
  good = once != NULL &&
         (named < 0 || named == ASSAY_SHA1 ||
          EVP_PKEY_CTX_set_signature_md(once, crypto->digests[named]) == 1) &&
         EVP_PKEY_verify(once, signature, signature_length, digest, digest_length) == 1;
  EVP_PKEY_CTX_free(once);
  assay_shim_end();
  return good;
}

/* What calls left on the stack. */
static __attribute__((noinline)) void assay_shim_clean_stack(void) {
  unsigned char area[16384];
  OPENSSL_cleanse(area, sizeof area);
}

/* Whether these are the octets of the point, compressed or not: it is written in
 * their form, as a known point never needs to be read. */
static inline int assay_shim_is_point(const EC_GROUP *curve, const EC_POINT *point,
                                      const unsigned char *octets, size_t length,
                                      BN_CTX *scratch) {
  unsigned char own[65];
  size_t count = EC_POINT_point2oct(
      curve, point,
      octets[0] == POINT_CONVERSION_UNCOMPRESSED ? POINT_CONVERSION_UNCOMPRESSED
                                                 : POINT_CONVERSION_COMPRESSED,
      own, sizeof own, scratch);
  return count > 0 && count == length && memcmp(own, octets, length) == 0;
}

/* The private key on P-256 of a big-endian scalar, and to `half` the 65 octets of its
 * public point; NULL where the scalar is none, or `point`, unless it is empty, is not its
 * public key. Of the scalar nothing stays but in the key, which wipes it when it is freed. */
static inline EVP_PKEY *assay_shim_private_key(const struct assay_crypto *crypto,
                                               const unsigned char *scalar,
                                               size_t scalar_length,
                                               const unsigned char *point,
                                               size_t point_length, unsigned char *half) {
  BN_CTX *scratch;
  BIGNUM *number;
  EC_GROUP *curve;
  EC_POINT *own = NULL;
  EVP_PKEY *key = NULL;
  assay_shim_begin();
  curve = assay_shim_group(crypto);
  scratch = assay_shim_scratch(crypto);
  number = BN_bin2bn(scalar, (int)scalar_length, NULL);
  if (scratch != NULL && number != NULL && curve != NULL &&
      (own = EC_POINT_new(curve)) != NULL) {
    assay_shim_keep_secret(number);
    if (!BN_is_zero(number) && BN_cmp(number, EC_GROUP_get0_order(curve)) < 0 &&
        EC_POINT_mul(curve, own, number, NULL, NULL, scratch) == 1 &&
        (point_length == 0 ||
         assay_shim_is_point(curve, own, point, point_length, scratch)) &&
        EC_POINT_point2oct(curve, own, POINT_CONVERSION_UNCOMPRESSED, half, 65, scratch) ==
            65)
      key = assay_shim_pair(crypto, curve, number, own, half);
  }
  EC_POINT_free(own);
  EC_GROUP_free(curve);
  BN_clear_free(number);
  BN_CTX_free(scratch);
  assay_shim_end();
  assay_shim_clean_stack();
  return key;
}

/* Signs a digest of 32 octets with such a key. The octets of the DER signature, at
 * most 72, which are written to `out`; 0: the system gives no random numbers, or
 * libcrypto cannot sign. */
static inline size_t assay_shim_sign(const struct assay_crypto *crypto, EVP_PKEY *key,
                                     const unsigned char *digest, unsigned char *out) {
  size_t count;
  assay_shim_begin();
  count = assay_shim_make_signature(crypto, key, digest, out);
  assay_shim_end();
  assay_shim_clean_stack();
  return count;
}

/* HMAC (RFC 2104) with SHA-256 over one text after the other. Where libcrypto cannot make
 * it the process ends, as for a digest. */
static inline void assay_shim_hmac(const struct assay_crypto *crypto,
                                   const unsigned char *key, size_t key_length,
                                   const unsigned char *head, size_t head_length,
                                   const unsigned char *body, size_t body_length,
                                   unsigned char *out) {
  int good;
  assay_shim_begin();
  good = crypto != NULL && assay_shim_make_code(crypto, key, key_length, head, head_length,
                                                body, body_length, out);
  assay_shim_end();
  assay_shim_clean_stack();
  if (!good) abort();
}

#endif /* ASSAY_CLIBCRYPTO_SHIM_H */
