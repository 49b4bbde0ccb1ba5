/*
 * openssl3.h - OpenSSL 3: what shim.h needs of it and no other libcrypto has.
 */
#ifndef ASSAY_CLIBCRYPTO_OPENSSL3_H
#define ASSAY_CLIBCRYPTO_OPENSSL3_H

/* Beside what shim.h includes, for the test authority. */
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

/* The group of a curve, shared by all keys on it. */
static inline EC_GROUP *assay_shim_curve(OSSL_LIB_CTX *context, int name) {
  EC_GROUP *curve;
  assay_shim_begin();
  curve = EC_GROUP_new_by_curve_name_ex(context, NULL, name);
  assay_shim_end();
  return curve;
}

/* Where libcrypto's functions keep numbers on their way; the second, secret ones. */
static inline BN_CTX *assay_shim_scratch(OSSL_LIB_CTX *context) {
  return BN_CTX_new_ex(context);
}
static inline BN_CTX *assay_shim_secret_scratch(OSSL_LIB_CTX *context) {
  return BN_CTX_secure_new_ex(context);
}

/* From here on, operations on the number take the same time whatever its value. */
static inline void assay_shim_keep_secret(BIGNUM *number) {
  BN_set_flags(number, BN_FLG_CONSTTIME);
}

/* What depends on whose libcrypto it is. In the Embedded library these are an object of
 * their own (ASSAY_SHIM_APART; Sources/AssayABI/Link/libcrypto.c), so that the Swift code
 * is compiled once for all of them. */
#ifdef ASSAY_SHIM_APART
OSSL_LIB_CTX *assay_shim_context(void);
ENGINE *assay_shim_engine(void);
int assay_shim_ecdsa(OSSL_LIB_CTX *context, const EC_KEY *key,
                     const unsigned char *digest, size_t digest_length,
                     const unsigned char *signature, size_t signature_length);
EC_KEY *assay_shim_signing_key(OSSL_LIB_CTX *context, ENGINE *engine);
size_t assay_shim_make_signature(OSSL_LIB_CTX *context, const EC_KEY *key,
                                 const unsigned char *digest,
                                 unsigned char *out);
#elif defined(ASSAY_OWN_LIBCRYPTO)
#include "openssl3-own.h"
#else
#include "openssl3-host.h"
#endif

/* A new EC key on the named curve, or NULL. Made by the test authority only. */
static inline EVP_PKEY *assay_shim_generate_ec(const char *curve) {
  return EVP_EC_gen(curve);
}

/* A new RSA key of this many bits, or NULL. Made by the test authority only, of three
   primes: who verifies sees the same, and they are found in a fifth of the time. */
static inline EVP_PKEY *assay_shim_generate_rsa(size_t bits) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  EVP_PKEY *key = NULL;
  if (context != NULL && EVP_PKEY_keygen_init(context) > 0 &&
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, (int)bits) > 0 &&
      EVP_PKEY_CTX_set_rsa_keygen_primes(context, 3) > 0)
    EVP_PKEY_generate(context, &key);
  EVP_PKEY_CTX_free(context);
  return key;
}

#endif /* ASSAY_CLIBCRYPTO_OPENSSL3_H */
