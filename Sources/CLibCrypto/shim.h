/*
 * What Assay needs of OpenSSL 3, and no more of it than Swift can import:
 * macros and OSSL_PARAM lists become small inline functions here.
 */
#ifndef ASSAY_CLIBCRYPTO_SHIM_H
#define ASSAY_CLIBCRYPTO_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
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

/* An EC key that has a named curve and no point yet. */
static inline EVP_PKEY *assay_shim_curve(OSSL_LIB_CTX *context,
                                         const char *name) {
  assay_shim_begin();
  OSSL_PARAM params[2];
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *build = EVP_PKEY_CTX_new_from_name(context, "EC", NULL);
  params[0] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
                                               (char *)(uintptr_t)name, 0);
  params[1] = OSSL_PARAM_construct_end();
  if (build == NULL || EVP_PKEY_fromdata_init(build) != 1 ||
      EVP_PKEY_fromdata(build, &key, EVP_PKEY_KEY_PARAMETERS, params) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(build);
  assay_shim_end();
  return key;
}

/* A key on the curve of `curve` from an uncompressed point, or NULL when the
 * point is not on it. */
static inline EVP_PKEY *assay_shim_point(OSSL_LIB_CTX *context,
                                         const EVP_PKEY *curve,
                                         const unsigned char *point,
                                         size_t length) {
  assay_shim_begin();
  EVP_PKEY *key = EVP_PKEY_new();
  (void)context;
  if (key == NULL || EVP_PKEY_copy_parameters(key, curve) != 1 ||
      EVP_PKEY_set1_encoded_public_key(key, point, length) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  assay_shim_end();
  return key;
}

/* What every check with this key begins with, made once: looking up its
 * algorithm costs more than copying the outcome. NULL: it cannot verify. */
static inline EVP_PKEY_CTX *assay_shim_verifier(OSSL_LIB_CTX *context,
                                                EVP_PKEY *key) {
  assay_shim_begin();
  EVP_PKEY_CTX *check = EVP_PKEY_CTX_new_from_pkey(context, key, NULL);
  if (check != NULL && EVP_PKEY_verify_init(check) != 1) {
    EVP_PKEY_CTX_free(check);
    check = NULL;
  }
  assay_shim_end();
  return check;
}

/* 1: the DER signature verifies over the digest; anything else: it does not. */
static inline int assay_shim_verify(const EVP_PKEY_CTX *verifier,
                                    const unsigned char *digest,
                                    size_t digest_length,
                                    const unsigned char *signature,
                                    size_t signature_length) {
  assay_shim_begin();
  EVP_PKEY_CTX *check = EVP_PKEY_CTX_dup(verifier);
  int good = check != NULL &&
             EVP_PKEY_verify(check, signature, signature_length, digest,
                             digest_length) == 1;
  EVP_PKEY_CTX_free(check);
  assay_shim_end();
  return good;
}

/* An RSA public key from its modulus and exponent, big-endian, or NULL. */
static inline EVP_PKEY *assay_shim_rsa(OSSL_LIB_CTX *context,
                                       const unsigned char *modulus,
                                       size_t modulus_length,
                                       unsigned long exponent) {
  assay_shim_begin();
  EVP_PKEY *key = NULL;
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL);
  BIGNUM *e = BN_new();
  OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
  OSSL_PARAM *params = NULL;
  EVP_PKEY_CTX *make = EVP_PKEY_CTX_new_from_name(context, "RSA", NULL);
  if (n != NULL && e != NULL && build != NULL && make != NULL &&
      BN_set_word(e, exponent) == 1 &&
      OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1 &&
      (params = OSSL_PARAM_BLD_to_param(build)) != NULL &&
      EVP_PKEY_fromdata_init(make) == 1 &&
      EVP_PKEY_fromdata(make, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(make);
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(build);
  BN_free(e);
  BN_free(n);
  assay_shim_end();
  return key;
}

/* The same as assay_shim_verifier for RSASSA-PKCS1-v1_5 with this digest. */
static inline EVP_PKEY_CTX *assay_shim_rsa_verifier(OSSL_LIB_CTX *context,
                                                    EVP_PKEY *key,
                                                    const EVP_MD *digest) {
  assay_shim_begin();
  EVP_PKEY_CTX *check = assay_shim_verifier(context, key);
  if (check != NULL &&
      (EVP_PKEY_CTX_set_rsa_padding(check, RSA_PKCS1_PADDING) != 1 ||
       EVP_PKEY_CTX_set_signature_md(check, digest) != 1)) {
    EVP_PKEY_CTX_free(check);
    check = NULL;
  }
  assay_shim_end();
  return check;
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
