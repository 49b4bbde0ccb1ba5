/* attest_evidence.c - see attest_evidence.h. */
#define _GNU_SOURCE
#include "attest_evidence.h"

#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"

const char attest_client_data[] = "{\"challenge\":\"AAECAwQFBgcICQoLDA0ODw\"}";
const char attest_app_id[] = "ABCDE12345.com.example.bench";

enum { DATA = 164 };

/* ---- certificates -------------------------------------------------------- */

static struct issuer unsigned_certificate(const char *name, EVP_PKEY *key,
                                          const struct issuer *issuer,
                                          long days_before, long days_after) {
  const char *subject[] = {"CN", name, "O", "Assay Benchmark", NULL};
  return certificate_new(key, subject, issuer, days_before, days_after);
}

static struct issuer authority(const char *name, const char *curve,
                               const struct issuer *issuer,
                               const char *marker) {
  struct issuer made =
      unsigned_certificate(name, EVP_EC_gen(curve), issuer, 2000, 3000);
  certificate_sign(&made, issuer, 1, "critical,keyCertSign,cRLSign", marker,
                   EVP_sha384());
  return made;
}

struct attest_line attest_line_new(void) {
  struct attest_line line;
  line.root = authority("Benchmark Attestation Root CA", "P-384", NULL, NULL);
  line.intermediate =
      authority("Benchmark Attestation CA 1", "P-384", &line.root, NULL);
  line.receipt_root =
      authority("Benchmark Root CA - G3", "P-384", NULL, NULL);
  line.receipt_intermediate =
      authority("Benchmark Integration CA 5", "P-256", &line.receipt_root,
                "1.2.840.113635.100.6.2.3");
  line.receipt_leaf =
      unsigned_certificate("Benchmark Fraud Receipt Signing", EVP_EC_gen("P-256"),
                           &line.receipt_intermediate, 200, 200);
  certificate_sign(&line.receipt_leaf, &line.receipt_intermediate, 0,
                   "critical,digitalSignature", "1.2.840.113635.100.12.15",
                   EVP_sha256());
  return line;
}

/* ---- CBOR ---------------------------------------------------------------- */

static void cbor_head(struct bytes *to, int major, size_t count) {
  unsigned char head[3];
  size_t size = 1;
  head[0] = (unsigned char)(major << 5);
  if (count < 24) {
    head[0] |= (unsigned char)count;
  } else if (count < 256) {
    head[0] |= 24;
    head[1] = (unsigned char)count;
    size = 2;
  } else {
    head[0] |= 25;
    head[1] = (unsigned char)(count >> 8);
    head[2] = (unsigned char)count;
    size = 3;
  }
  put(to, head, size);
}

static void cbor_text(struct bytes *to, const char *text) {
  cbor_head(to, 3, strlen(text));
  put(to, text, strlen(text));
}

static void cbor_bytes(struct bytes *to, const void *from, size_t length) {
  cbor_head(to, 2, length);
  put(to, from, length);
}

/* ---- keys and data ------------------------------------------------------- */

/* The uncompressed point: 04, x, y. */
static void point_of(EVP_PKEY *key, unsigned char point[65]) {
  size_t length = 0;
  demand(EVP_PKEY_get_octet_string_param(key, "encoded-pub-key", point, 65,
                                         &length) == 1 &&
             length == 65 && point[0] == 4,
         "encoded-pub-key");
}

static void client_hash(unsigned char hash[32]) {
  SHA256((const unsigned char *)attest_client_data,
         sizeof attest_client_data - 1, hash);
}

/* Computes SHA-256 of the authenticator data followed by the client data's
 * hash. */
static void nonce_of(const unsigned char *data, size_t length,
                     unsigned char nonce[32]) {
  struct bytes both = {0};
  unsigned char hash[32];
  client_hash(hash);
  put(&both, data, length);
  put(&both, hash, sizeof hash);
  SHA256(both.at, both.length, nonce);
  free(both.at);
}

static void attested_data(const struct attested *device,
                          unsigned char data[DATA]) {
  static const unsigned char cose[] = {0xa5, 1,    2,    3,    0x26,
                                       0x20, 1,    0x21, 0x58, 0x20};
  static const unsigned char middle[] = {0x22, 0x58, 0x20};
  memset(data, 0, DATA);
  SHA256((const unsigned char *)attest_app_id, strlen(attest_app_id), data);
  data[32] = 0x40;
  memcpy(data + 37, "appattest", 9);
  data[54] = 32;
  memcpy(data + 55, device->key_id, 32);
  memcpy(data + 87, cose, sizeof cose);
  memcpy(data + 97, device->point + 1, 32);
  memcpy(data + 129, middle, sizeof middle);
  memcpy(data + 132, device->point + 33, 32);
}

/* ---- receipts ------------------------------------------------------------ */

static void field(struct bytes *to, unsigned type, const char *text) {
  attribute(to, type, text, strlen(text));
}

static void instant(char *out, size_t room, long long ms) {
  time_t seconds = (time_t)(ms / 1000);
  struct tm parts;
  size_t used;
  gmtime_r(&seconds, &parts);
  used = strftime(out, room, "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(out + used, room - used, ".%03dZ", (int)(ms % 1000));
}

static void add_receipt(struct attested *device, const unsigned char *leaf,
                        size_t leaf_length) {
  const struct attest_line *line = device->line;
  const struct issuer *const chain[] = {
      &line->receipt_leaf, &line->receipt_intermediate, &line->receipt_root};
  struct bytes set = {0};
  unsigned char hash[32], token[66];
  long long now = now_ms();
  char text[64], *digits;
  client_hash(hash);
  field(&set, 2, attest_app_id);
  attribute(&set, 3, leaf, leaf_length);
  attribute(&set, 4, hash, sizeof hash);
  demand(RAND_bytes(token, sizeof token) == 1, "RAND_bytes");
  digits = base64(token, sizeof token);
  field(&set, 5, digits);
  free(digits);
  field(&set, 6, "ATTEST");
  field(&set, 7, "production");
  instant(text, sizeof text, now - 1000);
  field(&set, 12, text);
  instant(text, sizeof text, now + 90LL * 86400000);
  field(&set, 21, text);
  element(&device->content, 0x31, set.at, set.length);
  device->receipt =
      cms_new(chain, EVP_sha256(), &device->content, &device->signature);
  free(set.at);
}

/* ---- attestations -------------------------------------------------------- */

static void add_leaf(struct attested *device, const unsigned char *data) {
  const struct issuer *issuer = &device->line->intermediate;
  struct issuer leaf =
      unsigned_certificate("benchmark key", device->key, issuer, 1, 2);
  char value[256];
  unsigned char nonce[32];
  size_t used, n;
  nonce_of(data, DATA, nonce);
  used = (size_t)snprintf(value, sizeof value, "DER:30:24:A1:22:04:20");
  for (n = 0; n < sizeof nonce; n++)
    used += (size_t)snprintf(value + used, sizeof value - used, ":%02X",
                             nonce[n]);
  certificate_extend(leaf.certificate, "1.2.840.113635.100.8.2", value);
  certificate_sign(&leaf, issuer, 0,
                   "critical,digitalSignature,nonRepudiation,keyEncipherment,"
                   "dataEncipherment",
                   NULL, EVP_sha256());
  device->leaf = leaf.certificate;
}

struct attested attested_new(const struct attest_line *line) {
  struct attested device = {0};
  unsigned char data[DATA], *leaf = NULL, *intermediate = NULL;
  int leaf_length, intermediate_length, body;
  device.line = line;
  device.key = EVP_EC_gen("P-256");
  demand(device.key != NULL, "EVP_EC_gen");
  point_of(device.key, device.point);
  SHA256(device.point, sizeof device.point, device.key_id);
  attested_data(&device, data);
  add_leaf(&device, data);
  leaf_length = i2d_X509(device.leaf, &leaf);
  intermediate_length = i2d_X509(line->intermediate.certificate, &intermediate);
  body = i2d_re_X509_tbs(device.leaf, &device.leaf_body);
  demand(leaf_length > 0 && intermediate_length > 0 && body > 0, "i2d_X509");
  device.leaf_body_length = (size_t)body;
  X509_get0_signature(&device.leaf_signature, NULL, device.leaf);
  add_receipt(&device, leaf, (size_t)leaf_length);

  cbor_head(&device.attestation, 5, 3);
  cbor_text(&device.attestation, "fmt");
  cbor_text(&device.attestation, "apple-appattest");
  cbor_text(&device.attestation, "attStmt");
  cbor_head(&device.attestation, 5, 2);
  cbor_text(&device.attestation, "x5c");
  cbor_head(&device.attestation, 4, 2);
  cbor_bytes(&device.attestation, leaf, (size_t)leaf_length);
  cbor_bytes(&device.attestation, intermediate, (size_t)intermediate_length);
  cbor_text(&device.attestation, "receipt");
  cbor_bytes(&device.attestation, device.receipt.at, device.receipt.length);
  cbor_text(&device.attestation, "authData");
  cbor_bytes(&device.attestation, data, sizeof data);
  OPENSSL_free(leaf);
  OPENSSL_free(intermediate);
  return device;
}

/* ---- assertions ---------------------------------------------------------- */

struct assertion assertion_new(const struct attested *device,
                               unsigned counter) {
  struct assertion made = {0};
  unsigned char data[37] = {0};
  SHA256((const unsigned char *)attest_app_id, strlen(attest_app_id), data);
  data[32] = 0x40;
  data[33] = (unsigned char)(counter >> 24);
  data[34] = (unsigned char)(counter >> 16);
  data[35] = (unsigned char)(counter >> 8);
  data[36] = (unsigned char)counter;
  nonce_of(data, sizeof data, made.nonce);
  made.signature =
      signature_new(device->key, EVP_sha256(), made.nonce, sizeof made.nonce);
  cbor_head(&made.object, 5, 2);
  cbor_text(&made.object, "signature");
  cbor_bytes(&made.object, made.signature.at, made.signature.length);
  cbor_text(&made.object, "authenticatorData");
  cbor_bytes(&made.object, data, sizeof data);
  return made;
}

/* ---- configuration ------------------------------------------------------- */

char *attest_configuration(const struct attest_line *line, int chains) {
  char *root = certificate_text(line->root.certificate);
  char *receipt_root = certificate_text(line->receipt_root.certificate);
  char *text, cache[64] = "";
  if (chains >= 0)
    snprintf(cache, sizeof cache, "\"storekit\":{\"cache\":{\"chains\":%d}},",
             chains);
  text = format(
      "{\"apps\":[{\"bundleId\":\"com.example.bench\","
      "\"appAppleId\":1234567890}],%s"
      "\"attest\":{\"appIds\":[\"%s\"],\"anchors\":[\"%s\"],"
      "\"receiptAnchors\":[\"%s\"],\"maxAgeMs\":3600000}}",
      cache, attest_app_id, root, receipt_root);
  free(root);
  free(receipt_root);
  return text;
}
