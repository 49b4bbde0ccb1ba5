/*
 * receipt.c - what is this blob, is it worth verifying, and what does it prove?
 *
 *   receipt CONFIG.json [FILE] [--at MILLISECONDS] [--device HEX]
 *
 * Reads whatever a client sent for a purchase, from a file or from standard
 * input. Triage looks at it without cryptography; only what is worth it is
 * verified, offline, and only then believed. --device takes the vendor id (16
 * bytes) or the MAC address (6 bytes) that an app receipt must belong to.
 * Exit code 0: verified. 1: refused or set aside. 2: incorrect usage.
 *
 *   cc receipt.c -o receipt $(pkg-config --cflags --libs assay libcjson)
 */
#include <assay.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VERIFIED = 0, REFUSED = 1, USAGE = 2 };
enum { LONGEST_DEVICE = 16 };

struct options {
  const char *config;
  const char *path;
  int64_t now_ms;
  unsigned char device[LONGEST_DEVICE];
  size_t device_len;
};

/* All bytes of a stream; the caller frees them. */
static char *read_all(FILE *file, size_t *len) {
  size_t room = 65536;
  char *text = malloc(room);
  *len = 0;
  while (text != NULL) {
    char *larger;
    *len += fread(text + *len, 1, room - *len, file);
    if (*len < room) return text;
    larger = realloc(text, room *= 2);
    if (larger == NULL) free(text);
    text = larger;
  }
  return NULL;
}

static char *read_path(const char *path, size_t *len) {
  FILE *file = path == NULL ? stdin : fopen(path, "rb");
  char *text;
  if (file == NULL) {
    perror(path);
    return NULL;
  }
  text = read_all(file, len);
  if (file != stdin) fclose(file);
  return text;
}

/* What a file or a terminal adds after a text is not part of it. What begins
 * as DER is not text: its last byte may be any. */
static size_t without_line_end(const char *text, size_t len) {
  unsigned char first = len > 0 ? (unsigned char)text[0] : 0;
  if (first == 0x30 || first >= 0x80) return len;
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
  return len;
}

/* The number of bytes that the hex text gives; 0: it is not hex. */
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
  options->now_ms = (int64_t)time(NULL) * 1000;
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

/* ---- what the documents say --------------------------------------------- */

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* The text of one member of an object, or "" when it has none. */
static const char *text_of(const cJSON *object, const char *name) {
  const cJSON *item = member(object, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

/* The document as a tree; the caller deletes it. */
static cJSON *tree_of(const assay_doc *doc) {
  size_t len = 0;
  const char *json = assay_doc_json(doc, &len);
  return cJSON_ParseWithLength(json == NULL ? "" : json, len);
}

static void print_refusal(const cJSON *root) {
  const cJSON *error = member(root, "error");
  printf("refused:  %s\n", text_of(member(root, "status"), "name"));
  printf("  because %s\n", text_of(error, "message"));
  printf("  check   %s\n", text_of(error, "check"));
  printf("  at      %s\n", text_of(error, "at"));
  printf("  hint    %s\n", text_of(error, "hint"));
}

/* What triage found. Claims of the blob are claims: not acted upon here. */
static void print_triage(const cJSON *root) {
  const cJSON *triage = member(root, "triage"), *trait;
  printf("triage:   %s, %s, %s\n", text_of(member(root, "status"), "name"),
         text_of(triage, "form"), text_of(triage, "category"));
  printf("  client  %s\n", text_of(triage, "disposition"));
  cJSON_ArrayForEach(trait, member(triage, "traits"))
    printf("  trait   %s\n", trait->valuestring);
}

/* A purchase is paid out once per key, whatever text it came in. */
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

static assay_verifier *verifier_from(const char *path) {
  size_t len = 0;
  char *config = read_path(path, &len);
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  if (config == NULL) return NULL;
  if (assay_verifier_new(config, len, &verifier, &doc) != ASSAY_OK) {
    cJSON *root = tree_of(doc);
    print_refusal(root);
    cJSON_Delete(root);
  }
  assay_doc_free(doc);
  free(config);
  return verifier;
}

/* Verify a blob as the kind that triage found; NULL: there is no call for it. */
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
  print_triage(root);
  if ((status & 0xff) == ASSAY_PENDING)
    proof = verify(verifier, text_of(member(root, "triage"), "form"), blob, len,
                   options);
  else
    print_refusal(root);
  cJSON_Delete(root);
  assay_doc_free(finding);
  if (proof == NULL) return REFUSED;
  status = assay_doc_status(proof);
  root = tree_of(proof);
  if (status == ASSAY_OK)
    print_facts(root);
  else
    print_refusal(root);
  cJSON_Delete(root);
  assay_doc_free(proof);
  return status == ASSAY_OK ? VERIFIED : REFUSED;
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
  len = blob == NULL ? 0 : without_line_end(blob, len);
  if (blob != NULL) code = run(verifier, blob, len, &options);
  free(blob);
  assay_verifier_free(verifier);
  return code;
}
