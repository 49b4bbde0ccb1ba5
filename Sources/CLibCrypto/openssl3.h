/*
 * openssl3.h - OpenSSL 3, inside the library or the host's: what shim.h needs of it and
 * AWS-LC has otherwise.
 */
#ifndef ASSAY_CLIBCRYPTO_OPENSSL3_H
#define ASSAY_CLIBCRYPTO_OPENSSL3_H

#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
/* For the test authority. */
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

struct assay_crypto {
  /* Our own where libcrypto is inside. NULL, libcrypto's default one, where it is the
   * host's: what its openssl.cnf says of providers and properties holds (JWS-102). */
  OSSL_LIB_CTX *library;
  EVP_MD *digests[ASSAY_DIGESTS];
  EVP_MAC *hmac;
  /* The parameters of a curve: a key without a point, of which keys are made. */
  EVP_PKEY *curves[ASSAY_CURVES];
};

/* Initialises a libcrypto that is ours: it reads no configuration file, leaves nothing for
 * the end of the process, and fills none of the tables of names and messages that Assay
 * never looks at. A host's is left to itself. */
static inline int assay_shim_initialise(void) {
  return !assay_shim_is_own() ||
         OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT |
                                 OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
                                 OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                                 OPENSSL_INIT_NO_ADD_ALL_DIGESTS,
                             NULL) == 1;
}

/* A key of these parameters, or NULL. */
static inline EVP_PKEY *assay_shim_key(const struct assay_crypto *crypto, const char *type,
                                       int selection, OSSL_PARAM *parameters) {
  EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(crypto->library, type, NULL);
  EVP_PKEY *key = NULL;
  if (maker != NULL && EVP_PKEY_fromdata_init(maker) == 1)
    (void)EVP_PKEY_fromdata(maker, &key, selection, parameters);
  EVP_PKEY_CTX_free(maker);
  return key;
}

static inline OSSL_PARAM assay_shim_named(const char *name, const char *value) {
  return OSSL_PARAM_construct_utf8_string(name, (char *)(uintptr_t)value, 0);
}

/* Whether there are such keys and signatures. */
static inline int assay_shim_offers(const struct assay_crypto *crypto, const char *type,
                                    const char *signature) {
  EVP_KEYMGMT *keys = EVP_KEYMGMT_fetch(crypto->library, type, NULL);
  EVP_SIGNATURE *method = EVP_SIGNATURE_fetch(crypto->library, signature, NULL);
  int good = method != NULL && keys != NULL;
  EVP_SIGNATURE_free(method);
  EVP_KEYMGMT_free(keys);
  return good;
}

/* What is looked up once in a process, and stays; NULL where libcrypto cannot work, or its
 * configuration leaves out what Assay needs. */
static inline struct assay_crypto *assay_shim_open(void) {
  static const char *const digests[] = {"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"};
  static const char *const curves[] = {"P-256", "P-384"};
  static struct assay_crypto crypto;
  int i, good;
  if (!assay_shim_initialise()) return NULL;
  assay_shim_begin();
  if (assay_shim_is_own()) crypto.library = OSSL_LIB_CTX_new();
  crypto.hmac = EVP_MAC_fetch(crypto.library, "HMAC", NULL);
  good = (crypto.library != NULL || !assay_shim_is_own()) && crypto.hmac != NULL &&
         assay_shim_offers(&crypto, "EC", "ECDSA") && assay_shim_offers(&crypto, "RSA", "RSA");
  for (i = 0; i < ASSAY_DIGESTS; i++) {
    crypto.digests[i] = EVP_MD_fetch(crypto.library, digests[i], NULL);
    good = good && crypto.digests[i] != NULL;
  }
  for (i = 0; i < ASSAY_CURVES; i++) {
    OSSL_PARAM named[] = {assay_shim_named(OSSL_PKEY_PARAM_GROUP_NAME, curves[i]),
                          OSSL_PARAM_construct_end()};
    crypto.curves[i] = assay_shim_key(&crypto, "EC", EVP_PKEY_KEY_PARAMETERS, named);
    good = good && crypto.curves[i] != NULL;
  }
  assay_shim_end();
  return good ? &crypto : NULL;
}

static inline EVP_PKEY_CTX *assay_shim_verifier(const struct assay_crypto *crypto,
                                                EVP_PKEY *key) {
  EVP_PKEY_CTX *made =
      key == NULL ? NULL : EVP_PKEY_CTX_new_from_pkey(crypto->library, key, NULL);
  if (made != NULL && EVP_PKEY_verify_init(made) != 1) {
    EVP_PKEY_CTX_free(made);
    made = NULL;
  }
  EVP_PKEY_free(key);
  return made;
}

static inline EVP_PKEY *assay_shim_point_key(const struct assay_crypto *crypto, int curve,
                                             const unsigned char *point, size_t length) {
  EVP_PKEY *key = EVP_PKEY_new();
  if (key == NULL || EVP_PKEY_copy_parameters(key, crypto->curves[curve]) != 1 ||
      EVP_PKEY_set1_encoded_public_key(key, point, length) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  return key;
}

static inline EVP_PKEY *assay_shim_rsa_key(const struct assay_crypto *crypto,
                                           const unsigned char *modulus, size_t length,
                                           uint32_t exponent) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  BIGNUM *n = BN_bin2bn(modulus, (int)length, NULL);
  OSSL_PARAM *parameters = NULL;
  EVP_PKEY *key = NULL;
  if (builder != NULL && n != NULL &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_uint32(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
    parameters = OSSL_PARAM_BLD_to_param(builder);
  if (parameters != NULL)
    key = assay_shim_key(crypto, "RSA", EVP_PKEY_PUBLIC_KEY, parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_free(n);
  return key;
}

static inline EC_GROUP *assay_shim_group(const struct assay_crypto *crypto) {
  return EC_GROUP_new_by_curve_name_ex(crypto->library, NULL, NID_X9_62_prime256v1);
}
static inline BN_CTX *assay_shim_scratch(const struct assay_crypto *crypto) {
  return BN_CTX_secure_new_ex(crypto->library);
}

/* From here on, operations on the number take the same time whatever its value. */
static inline void assay_shim_keep_secret(BIGNUM *number) {
  BN_set_flags(number, BN_FLG_CONSTTIME);
}

static inline EVP_PKEY *assay_shim_pair(const struct assay_crypto *crypto,
                                        const EC_GROUP *curve, const BIGNUM *number,
                                        const EC_POINT *point, unsigned char *half) {
  unsigned char secret[32];
  EVP_PKEY *key = NULL;
  (void)curve, (void)point;
  /* In the machine's order of octets, as parameters are. */
  if (BN_bn2nativepad(number, secret, sizeof secret) == (int)sizeof secret) {
    OSSL_PARAM parameters[] = {
        assay_shim_named(OSSL_PKEY_PARAM_GROUP_NAME, "P-256"),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, half, 65),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, secret, sizeof secret),
        OSSL_PARAM_construct_end()};
    key = assay_shim_key(crypto, "EC", EVP_PKEY_KEYPAIR, parameters);
  }
  OPENSSL_cleanse(secret, sizeof secret);
  return key;
}

/* libcrypto's generator keeps a state, which can be there twice (random.h): so the octets
 * of the system go into it before each signature (EXC-23). */
static inline int assay_shim_renew(const struct assay_crypto *crypto) {
  unsigned char octets[48];
  EVP_RAND_CTX *generator = RAND_get0_private(crypto->library);
  int good = generator != NULL && assay_system_random(octets, sizeof octets) &&
             EVP_RAND_reseed(generator, 0, NULL, 0, octets, sizeof octets) == 1;
  OPENSSL_cleanse(octets, sizeof octets);
  return good;
}

static inline size_t assay_shim_make_signature(const struct assay_crypto *crypto,
                                               EVP_PKEY *key, const unsigned char *digest,
                                               unsigned char *out) {
  size_t count = 72;
  EVP_PKEY_CTX *signer = EVP_PKEY_CTX_new_from_pkey(crypto->library, key, NULL);
  if (signer == NULL || !assay_shim_renew(crypto) || EVP_PKEY_sign_init(signer) != 1 ||
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
  OSSL_PARAM parameters[] = {assay_shim_named(OSSL_MAC_PARAM_DIGEST, "SHA2-256"),
                             OSSL_PARAM_construct_end()};
  EVP_MAC_CTX *code = EVP_MAC_CTX_new(crypto->hmac);
  size_t count = 0;
  int good = code != NULL && EVP_MAC_init(code, key, key_length, parameters) == 1 &&
             EVP_MAC_update(code, head, head_length) == 1 &&
             EVP_MAC_update(code, body, body_length) == 1 &&
             EVP_MAC_final(code, out, &count, 32) == 1 && count == 32;
  EVP_MAC_CTX_free(code);
  return good;
}

/* A new EC key on the named curve, or NULL. Made by the test authority only. */
static inline EVP_PKEY *assay_shim_generate_ec(const char *curve) {
  return assay_shim_initialise() ? EVP_EC_gen(curve) : NULL;
}

/* A new RSA key of this many bits, or NULL. Made by the test authority only, of three
   primes: who verifies sees the same, and they are found in a fifth of the time. */
static inline EVP_PKEY *assay_shim_generate_rsa(size_t bits) {
  EVP_PKEY_CTX *context =
      assay_shim_initialise() ? EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL) : NULL;
  EVP_PKEY *key = NULL;
  if (context != NULL && EVP_PKEY_keygen_init(context) > 0 &&
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, (int)bits) > 0 &&
      EVP_PKEY_CTX_set_rsa_keygen_primes(context, 3) > 0)
    EVP_PKEY_generate(context, &key);
  EVP_PKEY_CTX_free(context);
  return key;
}

#endif /* ASSAY_CLIBCRYPTO_OPENSSL3_H */
