/*
 * awslc.h - AWS-LC in place of OpenSSL 3 (make CRYPTO=PREFIX, docs/building.md):
 * the functions of openssl3.h under the same names.
 *
 * It reads no configuration file, loads no engine and no provider, whoever else in
 * the process uses it: none of what openssl3.h does against that is needed here.
 * Reading a compressed point empties its queue of errors: nothing here does.
 */
#ifndef ASSAY_CLIBCRYPTO_AWSLC_H
#define ASSAY_CLIBCRYPTO_AWSLC_H

#include <openssl/nid.h>

/* There are no library contexts: the one of the callers stands for the library
 * itself, and nothing looks into it. */
typedef struct assay_shim_library OSSL_LIB_CTX;

/* NULL when the library cannot work. */
static inline OSSL_LIB_CTX *assay_shim_context(void) {
  static const char library = 0;
  if (!OPENSSL_init_crypto(0, NULL)) return NULL;
  return (OSSL_LIB_CTX *)(uintptr_t)&library;
}

/* Keys are made with AWS-LC's own code where no engine is given. */
static inline ENGINE *assay_shim_engine(void) { return NULL; }

/* The group of a curve: AWS-LC's own, never freed. */
static inline EC_GROUP *assay_shim_curve(OSSL_LIB_CTX *context, int name) {
  EC_GROUP *curve;
  (void)context;
  assay_shim_begin();
  curve = EC_GROUP_new_by_curve_name(name);
  assay_shim_end();
  return curve;
}

/* Where libcrypto's functions keep numbers on their way. AWS-LC wipes memory when it
 * frees it: secret numbers need no other place. */
static inline BN_CTX *assay_shim_scratch(OSSL_LIB_CTX *context) {
  (void)context;
  return BN_CTX_new();
}
static inline BN_CTX *assay_shim_secret_scratch(OSSL_LIB_CTX *context) {
  return assay_shim_scratch(context);
}

/* Points are multiplied in the same time whatever the number, without being told. */
static inline void assay_shim_keep_secret(BIGNUM *number) { (void)number; }

/* 1: the DER signature verifies over the digest; anything else: it does not. */
static inline int assay_shim_ecdsa(OSSL_LIB_CTX *context, const EC_KEY *key,
                                   const unsigned char *digest,
                                   size_t digest_length,
                                   const unsigned char *signature,
                                   size_t signature_length) {
  (void)context;
  return ECDSA_verify(0, digest, digest_length, signature, signature_length,
                      key);
}

/* A key that will sign. */
static inline EC_KEY *assay_shim_signing_key(OSSL_LIB_CTX *context, ENGINE *engine) {
  (void)context;
  return EC_KEY_new_method(engine);
}

static inline size_t assay_shim_make_signature(OSSL_LIB_CTX *context,
                                               const EC_KEY *key,
                                               const unsigned char *digest,
                                               unsigned char *out) {
  unsigned count = 0;
  (void)context;
  return ECDSA_sign(0, digest, 32, out, &count, key) == 1 ? count : 0;
}

#endif /* ASSAY_CLIBCRYPTO_AWSLC_H */
