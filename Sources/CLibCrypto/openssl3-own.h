/*
 * openssl3-own.h - libcrypto is Assay's alone: it is linked into the library.
 */
#ifndef ASSAY_CLIBCRYPTO_OPENSSL3_OWN_H
#define ASSAY_CLIBCRYPTO_OPENSSL3_OWN_H

/* A library context of our own: no configuration file, no host settings, and none of the
 * tables of names and messages that Assay never looks at, which would take pages and
 * time at load. */
ASSAY_SHIM OSSL_LIB_CTX *assay_shim_context(void) {
  OSSL_LIB_CTX *context;
  if (!OPENSSL_init_crypto(
          OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
              OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
              OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_ATEXIT,
          NULL))
    return NULL;
  assay_shim_begin();
  context = OSSL_LIB_CTX_new();
  assay_shim_end();
  return context;
}

/* No engine: this libcrypto was told to read nothing. */
ASSAY_SHIM ENGINE *assay_shim_engine(void) { return NULL; }

/* 1: the DER signature verifies over the digest; anything else: it does not. */
ASSAY_SHIM int assay_shim_ecdsa(OSSL_LIB_CTX *context, const EC_KEY *key,
                                const unsigned char *digest,
                                size_t digest_length,
                                const unsigned char *signature,
                                size_t signature_length) {
  (void)context;
  return ECDSA_verify(0, digest, (int)digest_length, signature,
                      (int)signature_length, (EC_KEY *)(uintptr_t)key);
}

/* A key that will sign, with the random numbers of the context. */
ASSAY_SHIM EC_KEY *assay_shim_signing_key(OSSL_LIB_CTX *context, ENGINE *engine) {
  (void)engine;
  return EC_KEY_new_ex(context, NULL);
}

ASSAY_SHIM size_t assay_shim_make_signature(OSSL_LIB_CTX *context,
                                               const EC_KEY *key,
                                               const unsigned char *digest,
                                               unsigned char *out) {
  unsigned count = 0;
  (void)context;
  return ECDSA_sign(0, digest, 32, out, &count, (EC_KEY *)(uintptr_t)key) == 1 ? count
                                                                              : 0;
}

#endif /* ASSAY_CLIBCRYPTO_OPENSSL3_OWN_H */
