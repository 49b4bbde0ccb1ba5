/* receipt_evidence.c - see receipt_evidence.h. */
#define _GNU_SOURCE
#include "receipt_evidence.h"

#include <openssl/cms.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "der.h"
#include "measure.h"

/* ---- certificates -------------------------------------------------------- */

static struct issuer certificate(const char *name, const struct issuer *issuer,
                                 int is_authority, const char *marker) {
  const char *subject[] = {"C", "US", "O", "Assay Benchmark", "CN", name, NULL};
  struct issuer made =
      certificate_new(EVP_RSA_gen(2048), subject, issuer, 400, 700);
  certificate_sign(&made, issuer, is_authority,
                   is_authority
                       ? "critical,digitalSignature,keyCertSign,cRLSign"
                       : "critical,digitalSignature",
                   marker, EVP_sha256());
  return made;
}

struct receipt_line receipt_line_new(void) {
  struct receipt_line line;
  line.root = certificate("Benchmark Receipt Root CA", NULL, 1, NULL);
  line.intermediate =
      certificate("Benchmark Receipt Intermediate", &line.root, 1,
                  "1.2.840.113635.100.6.2.1");
  line.leaf = certificate("Benchmark Receipt Signing", &line.intermediate, 0,
                          "1.2.840.113635.100.6.11.1");
  return line;
}

/* ---- transaction receipts ------------------------------------------------ */

static void date(char *out, size_t room, long long seconds, const char *form) {
  time_t moment = (time_t)seconds;
  struct tm parts;
  gmtime_r(&moment, &parts);
  strftime(out, room, form, &parts);
}

static void pair(struct bytes *to, const char *key, const char *value) {
  put(to, "\t\"", 2);
  put(to, key, strlen(key));
  put(to, "\" = \"", 5);
  put(to, value, strlen(value));
  put(to, "\";\n", 3);
}

static void date_triple(struct bytes *to, const char *key, long long seconds) {
  char name[64], text[64];
  snprintf(name, sizeof name, "%s-ms", key);
  snprintf(text, sizeof text, "%lld", seconds * 1000);
  pair(to, name, text);
  date(text, sizeof text, seconds, "%Y-%m-%d %H:%M:%S Etc/GMT");
  pair(to, key, text);
  snprintf(name, sizeof name, "%s-pst", key);
  date(text, sizeof text, seconds - 8 * 3600,
       "%Y-%m-%d %H:%M:%S America/Los_Angeles");
  pair(to, name, text);
}

/* Returns version, signature, length of the certificate, certificate. */
static struct bytes blob_of(const struct receipt *receipt) {
  struct bytes blob = {0};
  unsigned char version = 3, length[4], *der = NULL;
  int size = i2d_X509(receipt->line->leaf.certificate, &der);
  demand(size > 0, "i2d_X509");
  length[0] = 0;
  length[1] = 0;
  length[2] = (unsigned char)(size >> 8);
  length[3] = (unsigned char)size;
  put(&blob, &version, 1);
  put(&blob, receipt->signature.at, receipt->signature.length);
  put(&blob, length, 4);
  put(&blob, der, (size_t)size);
  OPENSSL_free(der);
  return blob;
}

struct receipt transaction_receipt_new(const struct receipt_line *line,
                                       const char *bundle_id, unsigned n) {
  struct receipt receipt = {0};
  struct bytes info = {0}, outer = {0}, blob;
  long long bought = now_ms() / 1000 - 86400 - n;
  char id[32], product[300], *text;
  receipt.line = line;
  snprintf(id, sizeof id, "2000000%09u", 100000000u + n);
  snprintf(product, sizeof product, "%s.premium.monthly", bundle_id);
  put(&info, "{\n", 2);
  date_triple(&info, "original-purchase-date", bought);
  pair(&info, "unique-identifier", "0000b0000c0000d0000e0000f000010000200003");
  pair(&info, "original-transaction-id", id);
  pair(&info, "bvrs", "7");
  pair(&info, "transaction-id", id);
  pair(&info, "quantity", "1");
  pair(&info, "unique-vendor-identifier",
       "0A0B0C0D-1234-4321-ABCD-000000000001");
  pair(&info, "product-id", product);
  pair(&info, "item-id", "1234567899");
  pair(&info, "bid", bundle_id);
  pair(&info, "is-in-intro-offer-period", "false");
  pair(&info, "is-trial-period", "false");
  date_triple(&info, "purchase-date", bought);
  put(&info, "}", 1);

  receipt.signed_bytes = malloc(info.length + 1);
  demand(receipt.signed_bytes != NULL, "malloc");
  receipt.signed_bytes[0] = 3;
  memcpy(receipt.signed_bytes + 1, info.at, info.length);
  receipt.signed_length = info.length + 1;
  receipt.signature = signature_new(line->leaf.key, EVP_sha1(),
                                    receipt.signed_bytes, receipt.signed_length);
  blob = blob_of(&receipt);
  put(&outer, "{\n", 2);
  text = base64(blob.at, blob.length);
  pair(&outer, "signature", text);
  free(text);
  text = base64(info.at, info.length);
  pair(&outer, "purchase-info", text);
  free(text);
  pair(&outer, "environment", "Sandbox");
  pair(&outer, "pod", "200");
  pair(&outer, "signing-status", "0");
  put(&outer, "}", 1);
  receipt.text = base64(outer.at, outer.length);
  receipt.length = strlen(receipt.text);
  free(blob.at);
  free(info.at);
  free(outer.at);
  return receipt;
}

struct receipt cracker_new(unsigned n) {
  struct receipt receipt = {0};
  char text[64];
  snprintf(text, sizeof text, "com.urus.iap.%u", 10000000u + n);
  receipt.text = base64((const unsigned char *)text, strlen(text));
  receipt.length = strlen(receipt.text);
  return receipt;
}

/* ---- app receipts -------------------------------------------------------- */

static void attribute_text(struct bytes *to, unsigned type, unsigned char tag,
                           const char *text) {
  struct bytes value = {0};
  element(&value, tag, text, strlen(text));
  attribute(to, type, value.at, value.length);
  free(value.at);
}

static void attribute_number(struct bytes *to, unsigned type,
                             unsigned long long value) {
  struct bytes inner = {0};
  number(&inner, value);
  attribute(to, type, inner.at, inner.length);
  free(inner.at);
}

static void purchase(struct bytes *to, const char *bundle_id, unsigned n) {
  struct bytes set = {0}, value = {0};
  char text[300];
  long long bought = now_ms() / 1000 - 400LL * 86400 + n * 3600LL;
  attribute_number(&set, 1701, 1);
  attribute_number(&set, 1707, 3);
  attribute_number(&set, 1710, 0);
  attribute_number(&set, 1711, 200000900000000ULL + n);
  attribute_number(&set, 1713, 0);
  attribute_number(&set, 1719, 0);
  attribute_text(&set, 1712, 0x16, "");
  snprintf(text, sizeof text, "%s.premium.monthly", bundle_id);
  attribute_text(&set, 1702, 0x0c, text);
  snprintf(text, sizeof text, "2000000%09u", 200000000u + n);
  attribute_text(&set, 1703, 0x0c, text);
  attribute_text(&set, 1705, 0x0c, "2000000200000000");
  date(text, sizeof text, bought, "%Y-%m-%dT%H:%M:%SZ");
  attribute_text(&set, 1704, 0x16, text);
  attribute_text(&set, 1706, 0x16, text);
  date(text, sizeof text, bought + 3600, "%Y-%m-%dT%H:%M:%SZ");
  attribute_text(&set, 1708, 0x16, text);
  element(&value, 0x31, set.at, set.length);
  attribute(to, 17, value.at, value.length);
  free(set.at);
  free(value.at);
}

struct receipt app_receipt_new(const struct receipt_line *line,
                               const char *bundle_id, unsigned purchases) {
  struct receipt receipt = {0};
  struct bytes set = {0}, payload = {0};
  const struct issuer *const chain[] = {&line->leaf, &line->intermediate,
                                        &line->root};
  unsigned char opaque[20];
  unsigned n;
  char text[64];
  receipt.line = line;
  attribute_text(&set, 0, 0x0c, "ProductionSandbox");
  attribute_number(&set, 1, 0);
  attribute_text(&set, 2, 0x0c, bundle_id);
  attribute_text(&set, 3, 0x0c, "7");
  RAND_bytes(opaque, sizeof opaque);
  attribute(&set, 4, opaque, 16);
  attribute(&set, 5, opaque, 20);
  attribute_text(&set, 10, 0x16, "4+");
  date(text, sizeof text, now_ms() / 1000 - 3600, "%Y-%m-%dT%H:%M:%SZ");
  attribute_text(&set, 8, 0x16, text);
  attribute_text(&set, 12, 0x16, text);
  attribute_number(&set, 15, 123456789012345678ULL);
  attribute_number(&set, 16, 0);
  attribute_text(&set, 18, 0x16, "2013-08-01T07:00:00Z");
  attribute_text(&set, 19, 0x0c, "1.0");
  for (n = 0; n < purchases; n++) purchase(&set, bundle_id, n);
  element(&payload, 0x31, set.at, set.length);
  receipt.decoded = cms_new(chain, EVP_sha1(), &payload, NULL);
  receipt.text = base64(receipt.decoded.at, receipt.decoded.length);
  receipt.length = strlen(receipt.text);
  free(set.at);
  free(payload.at);
  return receipt;
}

/* ---- configuration ------------------------------------------------------- */

char *receipt_configuration(const struct receipt_line *line) {
  char *root = certificate_text(line->root.certificate);
  char *intermediate = certificate_text(line->intermediate.certificate);
  char *text;
  text = format(
      "{\"apps\":[{\"bundleId\":\"com.example.bench\"}],"
      "\"environments\":[\"Sandbox\"],\"plans\":[\"free\",\"premium\"],"
      "\"products\":{\"com.example.bench.premium.monthly\":"
      "{\"plan\":\"premium\",\"type\":\"auto-renewable\"}},"
      "\"receipts\":{\"anchors\":[\"%s\"],\"intermediates\":[\"%s\"]}}",
      root, intermediate);
  free(root);
  free(intermediate);
  return text;
}
