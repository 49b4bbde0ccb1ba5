/* bare.c - see bare.h. */
#include "bare.h"

#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/ec.h>
#include <string.h>

#include "measure.h"

void bare_signature(EVP_PKEY *key, const EVP_MD *digest, const void *signature,
                    size_t signature_length, const void *text, size_t length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  demand(EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
             EVP_DigestVerify(context, signature, signature_length, text,
                              length) == 1,
         "EVP_DigestVerify");
  EVP_MD_CTX_free(context);
}

void bare_es256(EVP_PKEY *key, const struct jws *jws) {
  ECDSA_SIG *numbers = ECDSA_SIG_new();
  unsigned char *der = NULL;
  int length;
  ECDSA_SIG_set0(numbers, BN_bin2bn(jws->signature, 32, NULL),
                 BN_bin2bn(jws->signature + 32, 32, NULL));
  length = i2d_ECDSA_SIG(numbers, &der);
  demand(length > 0, "i2d_ECDSA_SIG");
  bare_signature(key, EVP_sha256(), der, (size_t)length, jws->text,
                 jws->signed_length);
  OPENSSL_free(der);
  ECDSA_SIG_free(numbers);
}

/* Returns a store that trusts this root under some rules, which are freed. */
static X509_STORE *store_of(const struct issuer *root,
                            X509_VERIFY_PARAM *rules) {
  X509_STORE *store = X509_STORE_new();
  demand(X509_STORE_add_cert(store, root->certificate) == 1 &&
             X509_STORE_set1_param(store, rules) == 1,
         "X509_STORE");
  X509_VERIFY_PARAM_free(rules);
  return store;
}

X509_STORE *bare_store(const struct issuer *root) {
  X509_VERIFY_PARAM *rules = X509_VERIFY_PARAM_new();
  X509_VERIFY_PARAM_set_time(rules, (time_t)(now_ms() / 1000));
  return store_of(root, rules);
}

X509_STORE *bare_store_any(const struct issuer *root, int level) {
  X509_VERIFY_PARAM *rules = X509_VERIFY_PARAM_new();
  if (level >= 0) X509_VERIFY_PARAM_set_auth_level(rules, level);
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_ANY);
  return store_of(root, rules);
}

void bare_cms(X509_STORE *store, const unsigned char *der, size_t length) {
  CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &der, (long)length);
  BIO *out = BIO_new(BIO_s_mem());
  demand(cms != NULL && CMS_verify(cms, NULL, store, NULL, out, CMS_BINARY) == 1,
         "CMS_verify");
  CMS_ContentInfo_free(cms);
  BIO_free(out);
}

static X509 *decode(const char *entry) {
  unsigned char der[4096];
  const unsigned char *read = der;
  size_t length = strlen(entry);
  int count;
  demand(length / 4 * 3 <= sizeof der, "a certificate of a known size");
  count = EVP_DecodeBlock(der, (const unsigned char *)entry, (int)length);
  while (length > 0 && entry[--length] == '=') count--;
  return d2i_X509(NULL, &read, count);
}

void bare_chain(X509_STORE *store, const struct jws *jws) {
  X509 *leaf = decode(jws->chain->x5c[0]);
  X509 *intermediate = decode(jws->chain->x5c[1]);
  X509 *root = decode(jws->chain->x5c[2]);
  STACK_OF(X509) *others = sk_X509_new_null();
  X509_STORE_CTX *check = X509_STORE_CTX_new();
  demand(leaf != NULL && intermediate != NULL && root != NULL, "d2i_X509");
  sk_X509_push(others, intermediate);
  sk_X509_push(others, root);
  demand(X509_STORE_CTX_init(check, store, leaf, others) == 1 &&
             X509_verify_cert(check) == 1,
         "X509_verify_cert");
  bare_es256(X509_get0_pubkey(leaf), jws);
  X509_STORE_CTX_free(check);
  sk_X509_free(others);
  X509_free(root);
  X509_free(intermediate);
  X509_free(leaf);
}
