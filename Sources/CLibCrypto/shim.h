/*
 * What Assay needs of libcrypto, and no more of it than Swift can import: small
 * inline functions, whose names are the same over every libcrypto. What OpenSSL 3
 * and AWS-LC do not have in common is in a header for each.
 */
#ifndef ASSAY_CLIBCRYPTO_SHIM_H
#define ASSAY_CLIBCRYPTO_SHIM_H

/* The functions of keys and digests before EVP: see below. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

/* What openssl3.h says may be an object of its own. */
#ifndef ASSAY_SHIM
#define ASSAY_SHIM static inline
#endif

/* In an object that the Makefile writes and links into what ships; in nothing else. */
extern const char assay_build_commit[] __attribute__((weak));
extern const char assay_build_compiler[] __attribute__((weak));

static inline const char *assay_shim_commit(void) {
  return assay_build_commit != NULL ? assay_build_commit : "unknown";
}
static inline const char *assay_shim_compiler(void) {
  return assay_build_compiler != NULL ? assay_build_compiler : "unknown";
}

/* The libcrypto in use, text that lives as long as it does: of Debian's that is
 * linked into the library the package and its revision, which security notices name;
 * of any other what it says about itself. */
#ifdef ASSAY_SHIM_APART
const char *assay_shim_libcrypto(void);
#else
ASSAY_SHIM const char *assay_shim_libcrypto(void) {
#if defined(ASSAY_OWN_LIBCRYPTO) && defined(ASSAY_LIBCRYPTO_PACKAGE)
  return "OpenSSL " ASSAY_LIBCRYPTO_PACKAGE;
#else
  return OpenSSL_version(OPENSSL_VERSION);
#endif
}
#endif

/* Errors of libcrypto's stay in its own thread's queue, which the host may share:
 * what was there before a call is there after it, and nothing else (JWS-102). Not to be
 * nested: AWS-LC counts no marks. */
static inline void assay_shim_begin(void) { (void)ERR_set_mark(); }
static inline void assay_shim_end(void) { (void)ERR_pop_to_mark(); }

#ifdef OPENSSL_IS_AWSLC
#include "awslc.h"
#elif OPENSSL_VERSION_NUMBER >= 0x30000000L
#include "openssl3.h"
#else
#error "these headers are neither OpenSSL 3's nor AWS-LC's"
#endif

/* Digests, keys and checks use libcrypto's older functions, not EVP: whatever EVP
 * makes, it asks the engines for first, and they read the host's openssl.cnf. Turning
 * that off in a libcrypto that the host shares would turn it off for the host as well
 * (JWS-102). */

#define ASSAY_SHIM_DIGEST(function, state_type, name)                       \
  static inline void function(const unsigned char *bytes, size_t length,    \
                              unsigned char *out) {                         \
    state_type state;                                                       \
    name##_Init(&state);                                                    \
    name##_Update(&state, bytes, length);                                   \
    name##_Final(out, &state);                                              \
  }
ASSAY_SHIM_DIGEST(assay_shim_sha1, SHA_CTX, SHA1)
ASSAY_SHIM_DIGEST(assay_shim_sha256, SHA256_CTX, SHA256)
ASSAY_SHIM_DIGEST(assay_shim_sha384, SHA512_CTX, SHA384)
ASSAY_SHIM_DIGEST(assay_shim_sha512, SHA512_CTX, SHA512)

/* A key from an uncompressed point, or NULL when the point is not on the curve. */
static inline EC_KEY *assay_shim_point(OSSL_LIB_CTX *context, ENGINE *engine,
                                       const EC_GROUP *curve,
                                       const unsigned char *point,
                                       size_t length) {
  BN_CTX *scratch;
  EC_POINT *place;
  EC_KEY *key;
  assay_shim_begin();
  scratch = assay_shim_scratch(context);
  place = EC_POINT_new(curve);
  key = EC_KEY_new_method(engine);
  if (scratch == NULL || place == NULL || key == NULL ||
      EC_POINT_oct2point(curve, place, point, length, scratch) != 1 ||
      EC_POINT_is_at_infinity(curve, place) ||
      EC_KEY_set_group(key, curve) != 1 ||
      EC_KEY_set_public_key(key, place) != 1) {
    EC_KEY_free(key);
    key = NULL;
  }
  EC_POINT_free(place);
  BN_CTX_free(scratch);
  assay_shim_end();
  return key;
}

/* 1: the DER signature verifies over the digest; anything else: it does not. */
static inline int assay_shim_verify(OSSL_LIB_CTX *context, const EC_KEY *key,
                                    const unsigned char *digest,
                                    size_t digest_length,
                                    const unsigned char *signature,
                                    size_t signature_length) {
  int good;
  assay_shim_begin();
  good = assay_shim_ecdsa(context, key, digest, digest_length, signature,
                          signature_length);
  assay_shim_end();
  return good == 1;
}

/* An RSA public key of a big-endian modulus and an exponent, or NULL. */
static inline RSA *assay_shim_rsa(ENGINE *engine, const unsigned char *modulus,
                                  size_t length, uint32_t exponent) {
  BIGNUM *n, *e;
  RSA *key;
  assay_shim_begin();
  key = RSA_new_method(engine);
  n = BN_bin2bn(modulus, (int)length, NULL);
  e = BN_new();
  if (key == NULL || n == NULL || e == NULL || BN_set_word(e, exponent) != 1 ||
      RSA_set0_key(key, n, e, NULL) != 1) {
    BN_free(n);
    BN_free(e);
    RSA_free(key);
    key = NULL;
  }
  assay_shim_end();
  return key;
}

/* 1: the RSASSA-PKCS1-v1_5 signature verifies over the digest, which is libcrypto's
 * of that number; anything else: it does not. */
static inline int assay_shim_rsa_verify(const RSA *key, int kind,
                                        const unsigned char *digest,
                                        size_t digest_length,
                                        const unsigned char *signature,
                                        size_t signature_length) {
  int good;
  assay_shim_begin();
  good = RSA_verify(kind, digest, (unsigned)digest_length, signature,
                    (unsigned)signature_length, (RSA *)(uintptr_t)key);
  assay_shim_end();
  return good == 1;
}

/* What calls left on the stack. */
static __attribute__((noinline)) void assay_shim_clean_stack(void) {
  unsigned char area[16384];
  OPENSSL_cleanse(area, sizeof area);
}

/* Whether these are the octets of the point, compressed or not: it is written in
 * their form, as a known point never needs to be read. */
static inline int assay_shim_is_point(const EC_GROUP *curve,
                                      const EC_POINT *point,
                                      const unsigned char *octets,
                                      size_t length, BN_CTX *scratch) {
  unsigned char own[65];
  size_t count = EC_POINT_point2oct(
      curve, point,
      octets[0] == POINT_CONVERSION_UNCOMPRESSED ? POINT_CONVERSION_UNCOMPRESSED
                                                 : POINT_CONVERSION_COMPRESSED,
      own, sizeof own, scratch);
  return count > 0 && count == length && memcmp(own, octets, length) == 0;
}

/* The private key on P-256 of a big-endian scalar, with its public half; NULL where
 * that is none, or the point, unless it is empty, is not its public key. Of the
 * scalar nothing stays but in the key, which wipes it when it is freed. */
static inline EC_KEY *assay_shim_private_key(OSSL_LIB_CTX *context, ENGINE *engine,
                                             const unsigned char *scalar,
                                             size_t scalar_length,
                                             const unsigned char *point,
                                             size_t point_length) {
  int good = 0;
  BN_CTX *scratch;
  BIGNUM *number;
  EC_KEY *key;
  EC_GROUP *curve = assay_shim_curve(context, NID_X9_62_prime256v1);
  EC_POINT *own = NULL;
  assay_shim_begin();
  key = assay_shim_signing_key(context, engine);
  scratch = assay_shim_secret_scratch(context);
  number = BN_bin2bn(scalar, (int)scalar_length, NULL);
  if (key != NULL && scratch != NULL && number != NULL && curve != NULL &&
      (own = EC_POINT_new(curve)) != NULL) {
    assay_shim_keep_secret(number);
    good = !BN_is_zero(number) &&
           BN_cmp(number, EC_GROUP_get0_order(curve)) < 0 &&
           EC_POINT_mul(curve, own, number, NULL, NULL, scratch) == 1 &&
           (point_length == 0 ||
            assay_shim_is_point(curve, own, point, point_length, scratch)) &&
           EC_KEY_set_group(key, curve) == 1 &&
           EC_KEY_set_private_key(key, number) == 1 &&
           EC_KEY_set_public_key(key, own) == 1;
  }
  EC_POINT_free(own);
  EC_GROUP_free(curve);
  BN_clear_free(number);
  BN_CTX_free(scratch);
  if (!good) {
    EC_KEY_free(key);
    key = NULL;
  }
  assay_shim_end();
  assay_shim_clean_stack();
  return key;
}

/* The public half of such a key as an uncompressed point: 65, or 0. */
static inline size_t assay_shim_public_half(OSSL_LIB_CTX *context, const EC_KEY *key,
                                            unsigned char *out) {
  BN_CTX *scratch;
  size_t count = 0;
  assay_shim_begin();
  scratch = assay_shim_scratch(context);
  if (scratch != NULL)
    count = EC_POINT_point2oct(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key),
                               POINT_CONVERSION_UNCOMPRESSED, out, 65, scratch);
  BN_CTX_free(scratch);
  assay_shim_end();
  return count;
}

/* Signs a digest of 32 octets with such a key. The octets of the DER signature, at
 * most 72, which are written to `out`; 0: the system gives no random numbers, or
 * libcrypto cannot sign. */
static inline size_t assay_shim_sign(OSSL_LIB_CTX *context, const EC_KEY *key,
                                     const unsigned char *digest,
                                     unsigned char *out) {
  size_t count;
  assay_shim_begin();
  count = assay_shim_make_signature(context, key, digest, out);
  assay_shim_end();
  assay_shim_clean_stack();
  return count;
}

/* HMAC (RFC 2104) with SHA-256, of a key of at most 64 octets. The inner digest is
 * over one text after the other. */
static inline void assay_shim_hmac(const unsigned char *key, size_t key_length,
                                   const unsigned char *head, size_t head_length,
                                   const unsigned char *body, size_t body_length,
                                   unsigned char *out) {
  unsigned char block[64] = {0};
  SHA256_CTX state;
  size_t i;
  memcpy(block, key, key_length < sizeof block ? key_length : sizeof block);
  for (i = 0; i < sizeof block; i++) block[i] ^= 0x36;
  SHA256_Init(&state);
  SHA256_Update(&state, block, sizeof block);
  SHA256_Update(&state, head, head_length);
  SHA256_Update(&state, body, body_length);
  SHA256_Final(out, &state);
  for (i = 0; i < sizeof block; i++) block[i] ^= 0x36 ^ 0x5c;
  SHA256_Init(&state);
  SHA256_Update(&state, block, sizeof block);
  SHA256_Update(&state, out, 32);
  SHA256_Final(out, &state);
  OPENSSL_cleanse(block, sizeof block);
  OPENSSL_cleanse(&state, sizeof state);
  assay_shim_clean_stack();
}

#endif /* ASSAY_CLIBCRYPTO_SHIM_H */
