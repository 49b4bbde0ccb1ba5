/*
 * What Assay needs of OpenSSL 3, and no more of it than Swift can import:
 * macros and OSSL_PARAM lists become small inline functions here.
 */
#ifndef ASSAY_CLIBCRYPTO_SHIM_H
#define ASSAY_CLIBCRYPTO_SHIM_H

/* The functions of keys and digests before EVP: see below. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Set by the Makefile for the shipped library. */
#ifndef ASSAY_COMMIT
#define ASSAY_COMMIT "unknown"
#endif
#ifndef ASSAY_COMPILER
#define ASSAY_COMPILER "unknown"
#endif

static inline const char *assay_shim_commit(void) { return ASSAY_COMMIT; }
static inline const char *assay_shim_compiler(void) { return ASSAY_COMPILER; }

/* The libcrypto in use, text that lives as long as it does: of one that is linked
 * into the library the package and its revision, which security notices name; of
 * the host's what it says of itself. */
static inline const char *assay_shim_libcrypto(void) {
#if defined(ASSAY_OWN_LIBCRYPTO) && defined(ASSAY_LIBCRYPTO_PACKAGE)
  return "OpenSSL " ASSAY_LIBCRYPTO_PACKAGE;
#else
  return OpenSSL_version(OPENSSL_VERSION);
#endif
}

/* Errors of libcrypto's stay in its own thread's queue, which the host may share:
 * what was there before a call is there after it, and nothing else (JWS-102). */
static inline void assay_shim_begin(void) { (void)ERR_set_mark(); }
static inline void assay_shim_end(void) { (void)ERR_pop_to_mark(); }

/* A library context of our own: no configuration file, no host settings.
 *
 * Where libcrypto is Assay's alone (the Makefile defines ASSAY_OWN_LIBCRYPTO when
 * it is linked into the library), it also goes without the tables of names and
 * messages that Assay never looks at, which would take pages and time at load. A
 * libcrypto that the host uses too is left as it is: what it is first initialised
 * without, it stays without for everybody in the process. */
static inline OSSL_LIB_CTX *assay_shim_context(void) {
  OSSL_LIB_CTX *context;
#ifdef ASSAY_OWN_LIBCRYPTO
  if (!OPENSSL_init_crypto(
          OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
              OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
              OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_ATEXIT,
          NULL))
    return NULL;
#endif
  assay_shim_begin();
  context = OSSL_LIB_CTX_new();
  assay_shim_end();
  return context;
}

/* Digests, keys and checks are libcrypto's functions of old, not EVP's: whatever EVP
 * makes, it asks the engines for first, and they read the host's openssl.cnf. To tell
 * a libcrypto that the host uses too not to would hold for the host as well
 * (JWS-102). */

static inline void assay_shim_sha1(const unsigned char *bytes, size_t length,
                                   unsigned char *out) {
  SHA_CTX state;
  SHA1_Init(&state);
  SHA1_Update(&state, bytes, length);
  SHA1_Final(out, &state);
}

static inline void assay_shim_sha256(const unsigned char *bytes, size_t length,
                                     unsigned char *out) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes, length);
  SHA256_Final(out, &state);
}

static inline void assay_shim_sha384(const unsigned char *bytes, size_t length,
                                     unsigned char *out) {
  SHA512_CTX state;
  SHA384_Init(&state);
  SHA384_Update(&state, bytes, length);
  SHA384_Final(out, &state);
}

static inline void assay_shim_sha512(const unsigned char *bytes, size_t length,
                                     unsigned char *out) {
  SHA512_CTX state;
  SHA512_Init(&state);
  SHA512_Update(&state, bytes, length);
  SHA512_Final(out, &state);
}

/* Whose code keys use. A key that is made without one asks for the default engine,
 * which reads openssl.cnf; so there is one of ours, in no list, with libcrypto's own
 * code. NULL where there are no engines, or libcrypto is Assay's alone and was told
 * to read nothing. */
#if !defined(ASSAY_OWN_LIBCRYPTO) && !defined(OPENSSL_NO_ENGINE)
static inline ENGINE *assay_shim_engine(void) {
  ENGINE *engine;
  assay_shim_begin();
  engine = ENGINE_new();
  if (engine != NULL && (ENGINE_set_EC(engine, EC_KEY_OpenSSL()) != 1 ||
                         ENGINE_set_RSA(engine, RSA_PKCS1_OpenSSL()) != 1)) {
    ENGINE_free(engine);
    engine = NULL;
  }
  assay_shim_end();
  return engine;
}
#else
static inline ENGINE *assay_shim_engine(void) { return NULL; }
#endif

/* The group of a curve, shared by all keys on it. */
static inline EC_GROUP *assay_shim_curve(OSSL_LIB_CTX *context, int name) {
  EC_GROUP *curve;
  assay_shim_begin();
  curve = EC_GROUP_new_by_curve_name_ex(context, NULL, name);
  assay_shim_end();
  return curve;
}

/* A key from an uncompressed point, or NULL when the point is not on the curve. */
static inline EC_KEY *assay_shim_point(OSSL_LIB_CTX *context, ENGINE *engine,
                                       const EC_GROUP *curve,
                                       const unsigned char *point,
                                       size_t length) {
  BN_CTX *scratch;
  EC_KEY *key;
  assay_shim_begin();
  scratch = BN_CTX_new_ex(context);
  key = EC_KEY_new_method(engine);
  if (scratch == NULL || key == NULL || EC_KEY_set_group(key, curve) != 1 ||
      EC_KEY_oct2key(key, point, length, scratch) != 1 ||
      EC_POINT_is_at_infinity(curve, EC_KEY_get0_public_key(key))) {
    EC_KEY_free(key);
    key = NULL;
  }
  BN_CTX_free(scratch);
  assay_shim_end();
  return key;
}

#ifndef ASSAY_OWN_LIBCRYPTO
/* For P-384, for which libcrypto 3.0 has no code of its own, ECDSA_verify blinds
 * what is public by random numbers, and to make those it asks the engines: see
 * above. So beside a libcrypto of the host's the sum is formed here from libcrypto's
 * points, by Shamir's trick: two bits of both numbers at a time, from a table of
 * iG + jQ. There is nothing to hide; SignaturesTests holds it against EVP. */
static inline int assay_shim_sum(const EC_GROUP *curve, EC_POINT *sum,
                                 const BIGNUM *left, const EC_POINT *key,
                                 const BIGNUM *right, BN_CTX *scratch) {
  EC_POINT *table[16];
  const EC_POINT *base = EC_GROUP_get0_generator(curve);
  int at, i, good = 1;
  for (i = 0; i < 16; i++) {
    table[i] = EC_POINT_new(curve);
    good = good && table[i] != NULL &&
           (i == 0 ? EC_POINT_set_to_infinity(curve, table[i])
            : i % 4 == 0
                ? EC_POINT_add(curve, table[i], table[i - 4], base, scratch)
                : EC_POINT_add(curve, table[i], table[i - 1], key, scratch)) ==
               1;
  }
  good = good && EC_POINT_set_to_infinity(curve, sum) == 1;
  for (at = (EC_GROUP_order_bits(curve) + 1) / 2 * 2 - 2; at >= 0; at -= 2) {
    i = BN_is_bit_set(left, at + 1) << 3 | BN_is_bit_set(left, at) << 2 |
        BN_is_bit_set(right, at + 1) << 1 | BN_is_bit_set(right, at);
    good = good && EC_POINT_dbl(curve, sum, sum, scratch) == 1 &&
           EC_POINT_dbl(curve, sum, sum, scratch) == 1 &&
           (i == 0 || EC_POINT_add(curve, sum, sum, table[i], scratch) == 1);
  }
  for (i = 0; i < 16; i++) EC_POINT_free(table[i]);
  return good;
}

/* ECDSA (SEC 1 §4.1.4): whether r and s lie in 1 … n - 1, and x(e/s G + r/s Q) mod n
 * is r. */
static inline int assay_shim_ecdsa(const EC_GROUP *curve, const EC_POINT *key,
                                   const unsigned char *digest,
                                   size_t digest_length, const BIGNUM *r,
                                   const BIGNUM *s, BN_CTX *scratch) {
  const BIGNUM *order = EC_GROUP_get0_order(curve);
  size_t octets = (size_t)BN_num_bytes(order);
  EC_POINT *sum = EC_POINT_new(curve);
  BIGNUM *inverse = BN_CTX_get(scratch), *left = BN_CTX_get(scratch);
  BIGNUM *right = BN_CTX_get(scratch), *x = BN_CTX_get(scratch);
  /* The order has whole octets: the leftmost of the digest, as many. */
  int good =
      sum != NULL && x != NULL && !BN_is_negative(r) && !BN_is_zero(r) &&
      BN_cmp(r, order) < 0 && !BN_is_negative(s) && !BN_is_zero(s) &&
      BN_cmp(s, order) < 0 &&
      BN_bin2bn(digest, (int)(digest_length < octets ? digest_length : octets),
                left) != NULL &&
      BN_mod_inverse(inverse, s, order, scratch) != NULL &&
      BN_mod_mul(left, left, inverse, order, scratch) == 1 &&
      BN_mod_mul(right, r, inverse, order, scratch) == 1 &&
      assay_shim_sum(curve, sum, left, key, right, scratch) == 1 &&
      !EC_POINT_is_at_infinity(curve, sum) &&
      EC_POINT_get_affine_coordinates(curve, sum, x, NULL, scratch) == 1 &&
      BN_nnmod(x, x, order, scratch) == 1 && BN_cmp(x, r) == 0;
  EC_POINT_free(sum);
  return good;
}

static inline int assay_shim_verify_p384(OSSL_LIB_CTX *context,
                                         const EC_KEY *key,
                                         const unsigned char *digest,
                                         size_t digest_length,
                                         const unsigned char *signature,
                                         size_t signature_length) {
  const unsigned char *at = signature;
  BN_CTX *scratch = BN_CTX_new_ex(context);
  ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)signature_length);
  int good = scratch != NULL && pair != NULL && at == signature + signature_length;
  if (good) {
    BN_CTX_start(scratch);
    good = assay_shim_ecdsa(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key),
                            digest, digest_length, ECDSA_SIG_get0_r(pair),
                            ECDSA_SIG_get0_s(pair), scratch);
    BN_CTX_end(scratch);
  }
  ECDSA_SIG_free(pair);
  BN_CTX_free(scratch);
  return good;
}
#endif

/* 1: the DER signature verifies over the digest; anything else: it does not. */
static inline int assay_shim_verify(OSSL_LIB_CTX *context, const EC_KEY *key,
                                    const unsigned char *digest,
                                    size_t digest_length,
                                    const unsigned char *signature,
                                    size_t signature_length) {
  int good;
  assay_shim_begin();
#ifndef ASSAY_OWN_LIBCRYPTO
  if (EC_GROUP_get_curve_name(EC_KEY_get0_group(key)) == NID_secp384r1)
    good = assay_shim_verify_p384(context, key, digest, digest_length,
                                  signature, signature_length);
  else
#endif
    good = ECDSA_verify(0, digest, (int)digest_length, signature,
                        (int)signature_length, (EC_KEY *)(uintptr_t)key);
  (void)context;
  assay_shim_end();
  return good == 1;
}

/* An RSA public key of a big-endian modulus and the exponent 65537, or NULL. */
static inline RSA *assay_shim_rsa(ENGINE *engine, const unsigned char *modulus,
                                  size_t length) {
  BIGNUM *n, *e;
  RSA *key;
  assay_shim_begin();
  key = RSA_new_method(engine);
  n = BN_bin2bn(modulus, (int)length, NULL);
  e = BN_new();
  if (key == NULL || n == NULL || e == NULL || BN_set_word(e, 65537) != 1 ||
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

/* What calls left behind on the stack. */
static __attribute__((noinline)) void assay_shim_clean_stack(void) {
  unsigned char area[16384];
  OPENSSL_cleanse(area, sizeof area);
}

/* 1: the big-endian scalar is a private key on P-256 and the point, unless it is
 * empty, is its public key. By numbers and points alone: a key object would be
 * made from copies of the scalar that nobody wipes. */
static inline int assay_shim_private_key_is_good(OSSL_LIB_CTX *context,
                                                 const unsigned char *scalar,
                                                 size_t scalar_length,
                                                 const unsigned char *point,
                                                 size_t point_length) {
  int good = 0;
  BN_CTX *scratch;
  BIGNUM *number;
  EC_GROUP *curve;
  EC_POINT *given = NULL, *own = NULL;
  assay_shim_begin();
  scratch = BN_CTX_secure_new_ex(context);
  number = BN_bin2bn(scalar, (int)scalar_length, NULL);
  curve =
      EC_GROUP_new_by_curve_name_ex(context, NULL, NID_X9_62_prime256v1);
  if (scratch != NULL && number != NULL && curve != NULL &&
      (given = EC_POINT_new(curve)) != NULL &&
      (own = EC_POINT_new(curve)) != NULL) {
    BN_set_flags(number, BN_FLG_CONSTTIME);
    good = !BN_is_zero(number) &&
           BN_cmp(number, EC_GROUP_get0_order(curve)) < 0 &&
           EC_POINT_mul(curve, own, number, NULL, NULL, scratch) == 1 &&
           (point_length == 0 ||
            (EC_POINT_oct2point(curve, given, point, point_length, scratch) ==
                 1 &&
             EC_POINT_cmp(curve, own, given, scratch) == 0));
  }
  EC_POINT_free(own);
  EC_POINT_free(given);
  EC_GROUP_free(curve);
  BN_clear_free(number);
  BN_CTX_free(scratch);
  assay_shim_end();
  assay_shim_clean_stack();
  return good;
}

/* A new EC key on the named curve, or NULL. Made by the test authority only. */
static inline EVP_PKEY *assay_shim_generate_ec(const char *curve) {
  return EVP_EC_gen(curve);
}

/* A new RSA key of so many bits, or NULL. Made by the test authority only. */
static inline EVP_PKEY *assay_shim_generate_rsa(size_t bits) {
  return EVP_RSA_gen(bits);
}

#endif /* ASSAY_CLIBCRYPTO_SHIM_H */
