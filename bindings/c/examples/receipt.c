/*
 * receipt.c - classify a blob, verify it if useful, and print what it proves.
 *
 *   receipt CONFIG.json [FILE] [--at MILLISECONDS] [--device HEX]
 *
 * Reads what a client sent for a purchase, from a file or from standard input.
 * Triage classifies it without cryptography; only what may be genuine is
 * verified, offline, and only verified facts are printed as such. --device
 * takes the vendor id (16 bytes) or the MAC address (6 bytes) that an app
 * receipt must belong to.
 * Exit code 0: verified. 1: refused or set aside. 2: incorrect usage.
 *
 *   cc receipt.c -o receipt $(pkg-config --cflags --libs assay libcjson)
 */
#include "documents.h"

enum { LONGEST_DEVICE = 16 };

struct options {
  const char *config;
  const char *path;
  int64_t now_ms;
  unsigned char device[LONGEST_DEVICE];
  size_t device_len;
};

/* Returns the length without a line end. Input that begins as DER is binary:
 * its last byte may have any value. */
static size_t blob_length(const char *blob, size_t len) {
  unsigned char first = len > 0 ? (unsigned char)blob[0] : 0;
  return first == 0x30 || first >= 0x80 ? len : without_line_end(blob, len);
}

/* Decodes hex and returns the number of bytes; 0 if the text is not hex. */
static size_t read_hex(const char *text, unsigned char *bytes) {
  size_t count = 0;
  for (; text[0] != '\0' && count < LONGEST_DEVICE; text += 2, count++) {
    char digits[3] = {text[0], text[1], '\0'};
    if (strspn(digits, "0123456789abcdefABCDEF") != 2) return 0;
    bytes[count] = (unsigned char)strtoul(digits, NULL, 16);
  }
  return text[0] == '\0' ? count : 0;
}

static int read_options(int argc, char **argv, struct options *options) {
  int i;
  memset(options, 0, sizeof *options);
  options->now_ms = clock_ms();
  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--at") == 0 && i + 1 < argc) {
      options->now_ms = strtoll(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      options->device_len = read_hex(argv[++i], options->device);
      if (options->device_len == 0) return 0;
    } else if (options->config == NULL) {
      options->config = argv[i];
    } else {
      options->path = argv[i];
    }
  }
  return options->config != NULL;
}

/* ---- printing ----------------------------------------------------------- */

/* Prints the result of triage, which is unverified: do not act on it. */
static void print_triage(const cJSON *root) {
  const cJSON *triage = member(root, "triage"), *trait;
  printf("triage:   %s, %s, %s\n", text_of(member(root, "status"), "name"),
         text_of(triage, "format"), text_of(triage, "category"));
  printf("  client  %s\n", text_of(triage, "disposition"));
  cJSON_ArrayForEach(trait, member(triage, "anomalies"))
    printf("  trait   %s\n", trait->valuestring);
}

/* Prints a purchase. Grant it once per key, whatever text the key came in. */
static void print_purchase(const cJSON *purchase) {
  printf("  bought  %s, %s\n", text_of(purchase, "productId"),
         text_of(member(purchase, "keys"), "purchase"));
}

static void print_facts(const cJSON *root) {
  const cJSON *app = member(root, "appReceipt"), *purchase;
  printf("verified: %s\n", text_of(root, "kind"));
  cJSON_ArrayForEach(purchase, member(app, "purchases"))
    print_purchase(purchase);
  if (member(root, "transactionReceipt") != NULL)
    print_purchase(member(root, "transactionReceipt"));
  if (member(root, "transaction") != NULL)
    print_purchase(member(root, "transaction"));
}

/* ---- the two steps ------------------------------------------------------ */

/* Verifies a blob as the kind that triage found; NULL if none has a call. */
static assay_doc *verify(const assay_verifier *verifier, const char *form,
                         const char *blob, size_t len,
                         const struct options *options) {
  assay_doc *doc = NULL;
  if (strcmp(form, "transaction-receipt") == 0)
    assay_verify_receipt(verifier, ASSAY_RECEIPT_TRANSACTION, blob, len, NULL,
                         0, options->now_ms, &doc);
  else if (strcmp(form, "app-receipt") == 0)
    assay_verify_receipt(verifier, ASSAY_RECEIPT_APP, blob, len,
                         options->device_len == 0 ? NULL : options->device,
                         options->device_len, options->now_ms, &doc);
  else if (strcmp(form, "jws") == 0)
    assay_verify_jws(verifier, ASSAY_JWS_TRANSACTION, blob, len,
                     options->now_ms, &doc);
  return doc;
}

static int run(const assay_verifier *verifier, const char *blob, size_t len,
               const struct options *options) {
  assay_doc *finding = NULL, *proof = NULL;
  assay_status status =
      assay_triage(verifier, blob, len, options->now_ms, &finding);
  cJSON *root = tree_of(finding);
  int code;
  print_triage(root);
  if ((status & 0xff) == ASSAY_PENDING)
    proof = verify(verifier, text_of(member(root, "triage"), "format"), blob, len,
                   options);
  else
    print_refusal(root);
  cJSON_Delete(root);
  assay_doc_free(finding);
  if (proof == NULL) return REFUSED;
  code = print_document(proof, print_facts);
  assay_doc_free(proof);
  return code;
}

int main(int argc, char **argv) {
  struct options options;
  assay_verifier *verifier;
  char *blob;
  size_t len = 0;
  int code = USAGE;
  if (!read_options(argc, argv, &options)) {
    fputs("usage: receipt CONFIG.json [FILE] [--at MILLISECONDS] "
          "[--device HEX]\n", stderr);
    return USAGE;
  }
  verifier = verifier_from(options.config);
  blob = verifier == NULL ? NULL : read_path(options.path, &len);
  len = blob == NULL ? 0 : blob_length(blob, len);
  if (blob != NULL) code = run(verifier, blob, len, &options);
  free(blob);
  assay_verifier_free(verifier);
  return code;
}
