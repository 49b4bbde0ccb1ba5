/* evidence.c - see evidence.h. */
#define _GNU_SOURCE
#include "evidence.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/conf.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

static const char extensions[] =
    "[root]\n"
    "subjectKeyIdentifier = hash\n"
    "basicConstraints = critical, CA:TRUE\n"
    "keyUsage = critical, keyCertSign, cRLSign\n"
    "[intermediate]\n"
    "basicConstraints = critical, CA:TRUE, pathlen:0\n"
    "authorityKeyIdentifier = keyid\n"
    "authorityInfoAccess = OCSP;URI:http://ocsp.bench.example/ocsp-root\n"
    "crlDistributionPoints = URI:http://crl.bench.example/root.crl\n"
    "subjectKeyIdentifier = hash\n"
    "keyUsage = critical, keyCertSign, cRLSign\n"
    "1.2.840.113635.100.6.2.1 = DER:05:00\n"
    "[leaf]\n"
    "basicConstraints = critical, CA:FALSE\n"
    "authorityKeyIdentifier = keyid\n"
    "authorityInfoAccess = @access\n"
    "certificatePolicies = @policy\n"
    "subjectKeyIdentifier = hash\n"
    "keyUsage = critical, digitalSignature\n"
    "1.2.840.113635.100.6.11.1 = DER:05:00\n"
    "[access]\n"
    "caIssuers;URI = http://certs.bench.example/intermediate.der\n"
    "OCSP;URI = http://ocsp.bench.example/ocsp-intermediate\n"
    "[policy]\n"
    "policyIdentifier = 1.2.840.113635.100.5.6.1\n"
    "CPS = http://www.bench.example/certificates/practice/\n"
    "userNotice.1 = @notice\n"
    "[notice]\n"
    "explicitText = This certificate was made by a benchmark when it ran and "
    "stands for nothing outside of it. Nobody vouches for what it signs. "
    "Whoever relies on it does so without any ground and alone bears what "
    "comes of it.\n";

static const char *const subjects[][9] = {
    {"CN", "Benchmark Root CA", "OU", "Assay Benchmark Certification Authority",
     "O", "Assay Benchmark", "C", "US", NULL},
    {"CN", "Benchmark Developer Relations Certification Authority", "OU", "B6",
     "O", "Assay Benchmark", "C", "US", NULL},
    {"CN", "Benchmark Mac App Store and iTunes Store Receipt Signing", "OU",
     "Benchmark Developer Relations", "O", "Assay Benchmark", "C", "US", NULL},
};

/* ---- certificates -------------------------------------------------------- */

struct issuer certificate_new(EVP_PKEY *key, const char *const *subject,
                              const struct issuer *issuer, long days_before,
                              long days_after) {
  struct issuer made = {key, X509_new()};
  unsigned char octets[16];
  BIGNUM *number;
  X509_NAME *name;
  demand(key != NULL && made.certificate != NULL, "a key");
  X509_set_version(made.certificate, X509_VERSION_3);
  demand(RAND_bytes(octets, sizeof octets) == 1, "RAND_bytes");
  octets[0] = (octets[0] & 0x3f) | 0x20;
  number = BN_bin2bn(octets, sizeof octets, NULL);
  demand(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made.certificate)) !=
             NULL,
         "BN_to_ASN1_INTEGER");
  BN_free(number);
  name = X509_get_subject_name(made.certificate);
  for (; *subject != NULL; subject += 2)
    demand(X509_NAME_add_entry_by_txt(name, subject[0], MBSTRING_ASC,
                                      (const unsigned char *)subject[1], -1, -1,
                                      0),
           "X509_NAME_add_entry_by_txt");
  X509_set_issuer_name(made.certificate,
                       X509_get_subject_name(
                           (issuer ? issuer : &made)->certificate));
  X509_gmtime_adj(X509_getm_notBefore(made.certificate), -days_before * 86400);
  X509_gmtime_adj(X509_getm_notAfter(made.certificate), days_after * 86400);
  X509_set_pubkey(made.certificate, key);
  return made;
}

void certificate_extend(X509 *certificate, const char *name,
                        const char *value) {
  X509_EXTENSION *extension = X509V3_EXT_conf(NULL, NULL, name, value);
  demand(extension != NULL && X509_add_ext(certificate, extension, -1) == 1,
         name);
  X509_EXTENSION_free(extension);
}

void certificate_sign(const struct issuer *made, const struct issuer *issuer,
                      int is_authority, const char *usage, const char *marker,
                      const EVP_MD *digest) {
  certificate_extend(made->certificate, "basicConstraints",
                     is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  certificate_extend(made->certificate, "keyUsage", usage);
  if (marker != NULL)
    certificate_extend(made->certificate, marker, "DER:05:00");
  demand(X509_sign(made->certificate, (issuer ? issuer : made)->key, digest) > 0,
         "X509_sign");
}

char *certificate_text(X509 *certificate) {
  unsigned char *der = NULL;
  int length = i2d_X509(certificate, &der);
  char *text;
  demand(length > 0, "i2d_X509");
  text = base64(der, (size_t)length);
  OPENSSL_free(der);
  return text;
}

static struct issuer certificate(int level, const char *section,
                                 const char *curve,
                                 const struct issuer *issuer) {
  static CONF *conf;
  struct issuer made;
  X509V3_CTX context;
  if (conf == NULL) {
    BIO *text = BIO_new_mem_buf(extensions, -1);
    conf = NCONF_new(NULL);
    demand(NCONF_load_bio(conf, text, NULL) == 1, "NCONF_load_bio");
    BIO_free(text);
  }
  made = certificate_new(EVP_EC_gen(curve), subjects[level], issuer, 400, 700);
  if (issuer == NULL) issuer = &made;
  X509V3_set_ctx(&context, issuer->certificate, made.certificate, NULL, NULL,
                 0);
  X509V3_set_nconf(&context, conf);
  demand(X509V3_EXT_add_nconf(conf, &context, section, made.certificate) == 1,
         "X509V3_EXT_add_nconf");
  demand(X509_sign(made.certificate, issuer->key, EVP_sha384()) > 0,
         "X509_sign");
  return made;
}

struct issuer root_new(void) { return certificate(0, "root", "P-384", NULL); }

struct issuer intermediate_new(const struct issuer *root) {
  return certificate(1, "intermediate", "P-384", root);
}

struct chain chain_new(const struct issuer *root,
                       const struct issuer *intermediate) {
  struct issuer leaf = certificate(2, "leaf", "P-256", intermediate);
  struct chain chain;
  char *json;
  chain.leaf_key = leaf.key;
  chain.x5c[0] = certificate_text(leaf.certificate);
  chain.x5c[1] = certificate_text(intermediate->certificate);
  chain.x5c[2] = certificate_text(root->certificate);
  json = format("{\"alg\":\"ES256\",\"x5c\":[\"%s\",\"%s\",\"%s\"]}",
                chain.x5c[0], chain.x5c[1], chain.x5c[2]);
  chain.header = base64url((const unsigned char *)json, strlen(json));
  free(json);
  X509_free(leaf.certificate);
  return chain;
}

/* ---- signatures ---------------------------------------------------------- */

struct bytes signature_new(EVP_PKEY *key, const EVP_MD *digest,
                           const void *text, size_t length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  struct bytes made = {0};
  unsigned char signature[512];
  size_t size = sizeof signature;
  demand(EVP_DigestSignInit(context, NULL, digest, NULL, key) == 1 &&
             EVP_DigestSign(context, signature, &size, text, length) == 1,
         "EVP_DigestSign");
  put(&made, signature, size);
  EVP_MD_CTX_free(context);
  return made;
}

struct bytes cms_new(const struct issuer *const chain[3], const EVP_MD *digest,
                     const struct bytes *content, struct bytes *signature) {
  BIO *text = BIO_new_mem_buf(content->at, (int)content->length);
  CMS_ContentInfo *cms =
      CMS_sign(NULL, NULL, NULL, text, CMS_BINARY | CMS_PARTIAL);
  struct bytes made = {0};
  unsigned char *der = NULL;
  const ASN1_OCTET_STRING *octets;
  int size;
  demand(cms != NULL &&
             CMS_add1_signer(cms, chain[0]->certificate, chain[0]->key, digest,
                             CMS_NOATTR | CMS_BINARY) != NULL &&
             CMS_add1_cert(cms, chain[1]->certificate) == 1 &&
             CMS_add1_cert(cms, chain[2]->certificate) == 1 &&
             CMS_final(cms, text, NULL, CMS_BINARY) == 1,
         "CMS_sign");
  octets = CMS_SignerInfo_get0_signature(
      sk_CMS_SignerInfo_value(CMS_get0_SignerInfos(cms), 0));
  if (signature != NULL)
    put(signature, ASN1_STRING_get0_data(octets),
        (size_t)ASN1_STRING_length(octets));
  size = i2d_CMS_ContentInfo(cms, &der);
  demand(size > 0, "i2d_CMS_ContentInfo");
  put(&made, der, (size_t)size);
  OPENSSL_free(der);
  CMS_ContentInfo_free(cms);
  BIO_free(text);
  return made;
}

/* ---- JWS ----------------------------------------------------------------- */

static void sign(struct jws *jws, const char *text) {
  struct bytes der =
      signature_new(jws->chain->leaf_key, EVP_sha256(), text, strlen(text));
  const unsigned char *read = der.at;
  ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &read, (long)der.length);
  BN_bn2binpad(ECDSA_SIG_get0_r(numbers), jws->signature, 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(numbers), jws->signature + 32, 32);
  ECDSA_SIG_free(numbers);
  free(der.at);
}

struct jws jws_sign(const struct chain *chain, const char *payload) {
  char *body = base64url((const unsigned char *)payload, strlen(payload));
  char *text = format("%s.%s", chain->header, body), *signature;
  struct jws jws;
  jws.chain = chain;
  sign(&jws, text);
  signature = base64url(jws.signature, sizeof jws.signature);
  jws.text = format("%s.%s", text, signature);
  jws.length = strlen(jws.text);
  jws.signed_length = strlen(text);
  free(signature);
  free(text);
  free(body);
  return jws;
}

/* ---- payloads ------------------------------------------------------------ */

static const long long day_ms = 86400000LL;

char *transaction_payload(void) {
  long long now = now_ms();
  return format(
      "{\"transactionId\":\"2000000912345678\","
      "\"originalTransactionId\":\"2000000900000001\","
      "\"webOrderLineItemId\":\"2000000087654321\","
      "\"bundleId\":\"com.example.bench\","
      "\"productId\":\"com.example.bench.pro.monthly\","
      "\"subscriptionGroupIdentifier\":\"21000001\","
      "\"purchaseDate\":%lld,\"originalPurchaseDate\":%lld,"
      "\"expiresDate\":%lld,\"quantity\":1,"
      "\"type\":\"Auto-Renewable Subscription\","
      "\"appAccountToken\":\"0f8fad5b-d9cb-469f-a165-70867728950e\","
      "\"inAppOwnershipType\":\"PURCHASED\",\"signedDate\":%lld,"
      "\"environment\":\"Sandbox\",\"transactionReason\":\"PURCHASE\","
      "\"storefront\":\"USA\",\"storefrontId\":\"143441\",\"price\":9990,"
      "\"currency\":\"USD\",\"appTransactionId\":\"704000000000000001\"}",
      now - day_ms, now - 40 * day_ms, now + 29 * day_ms, now - 60000);
}

char *renewal_payload(void) {
  long long now = now_ms();
  return format(
      "{\"originalTransactionId\":\"2000000900000001\","
      "\"autoRenewProductId\":\"com.example.bench.pro.monthly\","
      "\"productId\":\"com.example.bench.pro.monthly\","
      "\"autoRenewStatus\":1,\"renewalPrice\":9990,\"currency\":\"USD\","
      "\"signedDate\":%lld,\"environment\":\"Sandbox\","
      "\"recentSubscriptionStartDate\":%lld,\"renewalDate\":%lld,"
      "\"appTransactionId\":\"704000000000000001\"}",
      now - 60000, now - 40 * day_ms, now + 29 * day_ms);
}

char *notification_payload(const struct jws *transaction,
                           const struct jws *renewal) {
  return format(
      "{\"notificationType\":\"DID_RENEW\","
      "\"notificationUUID\":\"7b0e0ad0-54f1-4fd0-8a7e-6f0a4b1f6a11\","
      "\"data\":{\"appAppleId\":1234567890,"
      "\"bundleId\":\"com.example.bench\",\"bundleVersion\":\"1.0\","
      "\"environment\":\"Sandbox\",\"signedTransactionInfo\":\"%s\","
      "\"signedRenewalInfo\":\"%s\",\"status\":1},"
      "\"version\":\"2.0\",\"signedDate\":%lld}",
      transaction->text, renewal->text, now_ms() - 60000);
}

char *configuration(const struct issuer *root, int chains) {
  char *anchor = certificate_text(root->certificate);
  char *cache = chains < 0 ? format("%s", "")
                           : format(",\"cache\":{\"chains\":%d}", chains);
  char *text = format(
      "{\"apps\":[{\"bundleId\":\"com.example.bench\","
      "\"appAppleId\":1234567890}],"
      "\"environments\":[\"Production\",\"Sandbox\"],"
      "\"storekit\":{\"anchors\":[\"%s\"]%s}}",
      anchor, cache);
  free(anchor);
  free(cache);
  return text;
}
