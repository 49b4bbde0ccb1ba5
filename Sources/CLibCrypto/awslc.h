/*
 * awslc.h - AWS-LC in place of OpenSSL 3 (make CRYPTO=PREFIX, docs/building.md):
 * the functions of openssl3.h under the same names.
 *
 * It reads no configuration file, loads no engine and no provider, whoever else in
 * the process uses it. Reading a compressed point empties its queue of errors: nothing
 * here does.
 */
#ifndef ASSAY_CLIBCRYPTO_AWSLC_H
#define ASSAY_CLIBCRYPTO_AWSLC_H

#include <openssl/ec_key.h>
#include <openssl/hmac.h>
#include <openssl/nid.h>
#include <openssl/rsa.h>

struct assay_crypto {
  const EVP_MD *digests[ASSAY_DIGESTS];
};

/* NULL when the library cannot work. */
static inline struct assay_crypto *assay_shim_open(void) {
  static struct assay_crypto crypto;
  if (!OPENSSL_init_crypto(0, NULL)) return NULL;
  crypto.digests[ASSAY_SHA1] = EVP_sha1();
  crypto.digests[ASSAY_SHA256] = EVP_sha256();
  crypto.digests[ASSAY_SHA384] = EVP_sha384();
  crypto.digests[ASSAY_SHA512] = EVP_sha512();
  return &crypto;
}

static inline EVP_PKEY_CTX *assay_shim_verifier(const struct assay_crypto *crypto,
                                                EVP_PKEY *key) {
  EVP_PKEY_CTX *made = key == NULL ? NULL : EVP_PKEY_CTX_new(key, NULL);
  (void)crypto;
  if (made != NULL && EVP_PKEY_verify_init(made) != 1) {
    EVP_PKEY_CTX_free(made);
    made = NULL;
  }
  EVP_PKEY_free(key);
  return made;
}

/* A key of libcrypto's older kind as one of EVP's; both are freed where it fails. */
static inline EVP_PKEY *assay_shim_elliptic(EC_KEY *key, int good) {
  EVP_PKEY *made = good ? EVP_PKEY_new() : NULL;
  if (made == NULL || EVP_PKEY_assign_EC_KEY(made, key) != 1) {
    EVP_PKEY_free(made);
    EC_KEY_free(key);
    made = NULL;
  }
  return made;
}

static inline EVP_PKEY *assay_shim_point_key(const struct assay_crypto *crypto, int curve,
                                             const unsigned char *point, size_t length) {
  EC_GROUP *group = EC_GROUP_new_by_curve_name(
      curve == ASSAY_P256 ? NID_X9_62_prime256v1 : NID_secp384r1);
  EC_POINT *place = group == NULL ? NULL : EC_POINT_new(group);
  EC_KEY *key = EC_KEY_new();
  EVP_PKEY *made;
  (void)crypto;
  made = assay_shim_elliptic(
      key, key != NULL && place != NULL &&
               EC_POINT_oct2point(group, place, point, length, NULL) == 1 &&
               EC_KEY_set_group(key, group) == 1 && EC_KEY_set_public_key(key, place) == 1);
  EC_POINT_free(place);
  EC_GROUP_free(group);
  return made;
}

static inline EVP_PKEY *assay_shim_rsa_key(const struct assay_crypto *crypto,
                                           const unsigned char *modulus, size_t length,
                                           uint32_t exponent) {
  RSA *key = RSA_new();
  BIGNUM *n = BN_bin2bn(modulus, length, NULL), *e = BN_new();
  EVP_PKEY *made = NULL;
  (void)crypto;
  if (key == NULL || n == NULL || e == NULL || BN_set_word(e, exponent) != 1 ||
      RSA_set0_key(key, n, e, NULL) != 1) {
    BN_free(n);
    BN_free(e);
  } else {
    made = EVP_PKEY_new();
  }
  if (made == NULL || EVP_PKEY_assign_RSA(made, key) != 1) {
    EVP_PKEY_free(made);
    RSA_free(key);
    made = NULL;
  }
  return made;
}

static inline EC_GROUP *assay_shim_group(const struct assay_crypto *crypto) {
  (void)crypto;
  return EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
}

/* AWS-LC wipes memory when it frees it, and multiplies points in the same time whatever the
 * number, without being told. */
static inline BN_CTX *assay_shim_scratch(const struct assay_crypto *crypto) {
  (void)crypto;
  return BN_CTX_new();
}
static inline void assay_shim_keep_secret(BIGNUM *number) { (void)number; }

static inline EVP_PKEY *assay_shim_pair(const struct assay_crypto *crypto,
                                        const EC_GROUP *curve, const BIGNUM *number,
                                        const EC_POINT *point, unsigned char *half) {
  EC_KEY *key = EC_KEY_new();
  (void)crypto, (void)half;
  return assay_shim_elliptic(
      key, key != NULL && EC_KEY_set_group(key, curve) == 1 &&
               EC_KEY_set_private_key(key, number) == 1 &&
               EC_KEY_set_public_key(key, point) == 1);
}

static inline size_t assay_shim_make_signature(const struct assay_crypto *crypto,
                                               EVP_PKEY *key, const unsigned char *digest,
                                               unsigned char *out) {
  size_t count = 72;
  EVP_PKEY_CTX *signer = EVP_PKEY_CTX_new(key, NULL);
  (void)crypto;
  if (signer == NULL || EVP_PKEY_sign_init(signer) != 1 ||
      EVP_PKEY_sign(signer, out, &count, digest, 32) != 1)
    count = 0;
  EVP_PKEY_CTX_free(signer);
  return count;
}

static inline int assay_shim_make_code(const struct assay_crypto *crypto,
                                       const unsigned char *key, size_t key_length,
                                       const unsigned char *head, size_t head_length,
                                       const unsigned char *body, size_t body_length,
                                       unsigned char *out) {
  HMAC_CTX *code = HMAC_CTX_new();
  unsigned count = 0;
  int good = code != NULL &&
             HMAC_Init_ex(code, key, key_length, crypto->digests[ASSAY_SHA256], NULL) == 1 &&
             HMAC_Update(code, head, head_length) == 1 &&
             HMAC_Update(code, body, body_length) == 1 &&
             HMAC_Final(code, out, &count) == 1 && count == 32;
  HMAC_CTX_free(code);
  return good;
}

#endif /* ASSAY_CLIBCRYPTO_AWSLC_H */
