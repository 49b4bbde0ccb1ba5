/*
 * openssl3-host.h - libcrypto is the host's, which uses it too: it is left as it is. What
 * it is first initialised without, it would stay without for everything in the process.
 */
#ifndef ASSAY_CLIBCRYPTO_OPENSSL3_HOST_H
#define ASSAY_CLIBCRYPTO_OPENSSL3_HOST_H

/* A library context of our own: no configuration file, no host settings. */
ASSAY_SHIM OSSL_LIB_CTX *assay_shim_context(void) {
  OSSL_LIB_CTX *context;
  assay_shim_begin();
  context = OSSL_LIB_CTX_new();
  assay_shim_end();
  return context;
}

/* Whose code keys use. A key that is made without one asks for the default engine,
 * which reads openssl.cnf; so there is one of ours, in no list, with libcrypto's own
 * code. NULL where there are no engines. */
#ifndef OPENSSL_NO_ENGINE
ASSAY_SHIM ENGINE *assay_shim_engine(void) {
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
ASSAY_SHIM ENGINE *assay_shim_engine(void) { return NULL; }
#endif

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
static inline int assay_shim_holds(const EC_GROUP *curve, const EC_POINT *key,
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

/* The DER of the pair is the signature, octet for octet: nothing follows it, and it
 * has no other form. */
static inline int assay_shim_is_der(const ECDSA_SIG *pair,
                                    const unsigned char *signature,
                                    size_t length) {
  unsigned char *der = NULL;
  int count = i2d_ECDSA_SIG(pair, &der);
  int good = count > 0 && (size_t)count == length &&
             memcmp(der, signature, length) == 0;
  CRYPTO_free(der, "", 0); /* OPENSSL_free names this file's path */
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
  int good = scratch != NULL && pair != NULL &&
             assay_shim_is_der(pair, signature, signature_length);
  if (good) {
    BN_CTX_start(scratch);
    good = assay_shim_holds(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key),
                            digest, digest_length, ECDSA_SIG_get0_r(pair),
                            ECDSA_SIG_get0_s(pair), scratch);
    BN_CTX_end(scratch);
  }
  ECDSA_SIG_free(pair);
  BN_CTX_free(scratch);
  return good;
}

/* 1: the DER signature verifies over the digest; anything else: it does not. */
ASSAY_SHIM int assay_shim_ecdsa(OSSL_LIB_CTX *context, const EC_KEY *key,
                                   const unsigned char *digest,
                                   size_t digest_length,
                                   const unsigned char *signature,
                                   size_t signature_length) {
  if (EC_GROUP_get_curve_name(EC_KEY_get0_group(key)) == NID_secp384r1)
    return assay_shim_verify_p384(context, key, digest, digest_length,
                                  signature, signature_length);
  return ECDSA_verify(0, digest, (int)digest_length, signature,
                      (int)signature_length, (EC_KEY *)(uintptr_t)key);
}

/* A key that will sign, and asks no engine. */
ASSAY_SHIM EC_KEY *assay_shim_signing_key(OSSL_LIB_CTX *context, ENGINE *engine) {
  (void)context;
  return EC_KEY_new_method(engine);
}

/* For ECDSA the inverse of a secret number k of 1 … n - 1, and the x of kG: k is 384
 * random bits modulo n - 1, and 1 (FIPS 186-4, B.5.1). The generators of a libcrypto of
 * the host's ask the engines (see above), so the bits are the system's. */
static inline int assay_shim_set_up(const EC_GROUP *curve, BIGNUM *inverse, BIGNUM *x,
                                    BN_CTX *scratch) {
  unsigned char octets[48];
  const BIGNUM *order = EC_GROUP_get0_order(curve);
  EC_POINT *place = EC_POINT_new(curve);
  BIGNUM *k = BN_CTX_get(scratch), *below = BN_CTX_get(scratch);
  int good = place != NULL && below != NULL &&
             assay_system_random(octets, sizeof octets) == 1 &&
             BN_bin2bn(octets, sizeof octets, k) != NULL &&
             BN_sub(below, order, BN_value_one()) == 1;
  if (good) {
    assay_shim_keep_secret(k);
    good = BN_nnmod(k, k, below, scratch) == 1 && BN_add_word(k, 1) == 1 &&
           EC_POINT_mul(curve, place, k, NULL, NULL, scratch) == 1 &&
           EC_POINT_get_affine_coordinates(curve, place, x, NULL, scratch) == 1 &&
           BN_nnmod(x, x, order, scratch) == 1 && !BN_is_zero(x) &&
           BN_mod_inverse(inverse, k, order, scratch) != NULL;
  }
  OPENSSL_cleanse(octets, sizeof octets);
  EC_POINT_clear_free(place);
  return good;
}

ASSAY_SHIM size_t assay_shim_make_signature(OSSL_LIB_CTX *context,
                                               const EC_KEY *key,
                                               const unsigned char *digest,
                                               unsigned char *out) {
  unsigned count = 0;
  BN_CTX *scratch = assay_shim_secret_scratch(context);
  BIGNUM *inverse = BN_secure_new(), *x = BN_new();
  if (scratch != NULL && inverse != NULL && x != NULL) {
    BN_CTX_start(scratch);
    if (!assay_shim_set_up(EC_KEY_get0_group(key), inverse, x, scratch) ||
        ECDSA_sign_ex(0, digest, 32, out, &count, inverse, x,
                      (EC_KEY *)(uintptr_t)key) != 1)
      count = 0;
    BN_CTX_end(scratch);
  }
  BN_clear_free(inverse);
  BN_free(x);
  BN_CTX_free(scratch);
  return count;
}

#endif /* ASSAY_CLIBCRYPTO_OPENSSL3_HOST_H */
