/*
 * attest.c - store the record of an App Attest key, and verify requests with
 * it.
 *
 *   attest CONFIG.json register RECORD.json OBJECT CLIENT_DATA KEY_ID [options]
 *   attest CONFIG.json request  RECORD.json OBJECT CLIENT_DATA KEY_ID [options]
 *
 *   --hash             CLIENT_DATA holds the hash that the app computed
 *   --at MILLISECONDS  verify for that time instead of now
 *
 * register verifies an attestation (OBJECT: the file with what attestKey
 * returned) and writes the key record; an existing record is not changed.
 * request finds the record by the key id that the app sent, verifies an
 * assertion with its key and counter, and stores the new counter: the same
 * assertion is refused the second time. Apps write one key id in several ways,
 * so it is looked up by its normal form. Here one program uses the file; a
 * server updates the counter in its database only if the stored one is still
 * smaller.
 * Exit code 0: verified. 1: refused. 2: incorrect usage.
 *
 *   cc attest.c -o attest $(pkg-config --cflags --libs assay libcjson)
 */
#include "documents.h"

enum { LONGEST_KEY = 91, KEY_ID_TEXT = 44 };

struct options {
  const char *config, *action, *record, *object, *client_data, *key_id;
  int32_t client_data_kind;
  int64_t now_ms;
};

struct blob {
  char *bytes;
  size_t len;
};

/* ---- files -------------------------------------------------------------- */

/* Returns the bytes of a file; bytes is NULL if it cannot be read. */
static struct blob blob_of(const char *path) {
  struct blob blob = {NULL, 0};
  blob.bytes = read_path(path, &blob.len);
  return blob;
}

static int write_record(const char *path, const cJSON *record) {
  char *text = cJSON_Print(record);
  FILE *file = text == NULL ? NULL : fopen(path, "wb");
  int written = file != NULL && fputs(text, file) >= 0;
  if (file == NULL) perror(path);
  if (file != NULL && fclose(file) != 0) written = 0;
  cJSON_free(text);
  return written;
}

/* ---- the record --------------------------------------------------------- */

/* Decodes base64; returns the number of bytes, 0 if the text is not base64. */
static size_t read_base64(const char *text, unsigned char *bytes, size_t room) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned long bits = 0;
  size_t count = 0, held = 0;
  for (; *text != '\0' && *text != '='; text++) {
    const char *digit = strchr(digits, *text);
    if (digit == NULL || count == room) return 0;
    bits = (bits << 6 | (unsigned long)(digit - digits)) & 0xffffff;
    held += 6;
    if (held >= 8) bytes[count++] = (unsigned char)(bits >> (held -= 8));
  }
  return count;
}

/* Writes the normal form of a key id; returns 0 if the text is not a key id. */
static int normal_key_id(const assay_verifier *verifier, const char *key_id,
                         int64_t now_ms, char text[KEY_ID_TEXT + 1]) {
  static const char path[] = "exchange.keyId";
  cJSON *request = cJSON_CreateObject();
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  const char *found;
  char *json;
  size_t len = 0;
  cJSON_AddStringToObject(request, "operation", "normalize-key-id");
  cJSON_AddStringToObject(request, "keyId", key_id);
  json = cJSON_PrintUnformatted(request);
  cJSON_Delete(request);
  if (json == NULL) return 0;
  assay_exchange_new(verifier, json, strlen(json), NULL, 0, now_ms, &exchange,
                     &doc);
  found = assay_doc_text(doc, path, sizeof path - 1, &len);
  if (found != NULL && len == KEY_ID_TEXT) {
    memcpy(text, found, KEY_ID_TEXT);
    text[KEY_ID_TEXT] = '\0';
  } else {
    print_document(doc, print_refusal);
    found = NULL;
  }
  assay_exchange_free(exchange);
  assay_doc_free(doc);
  cJSON_free(json);
  return found != NULL;
}

/* Returns the key record of an attestation; a server adds account and state. */
static cJSON *record_of(const cJSON *attestation) {
  cJSON *record = cJSON_CreateObject();
  cJSON_AddStringToObject(record, "keyId", text_of(attestation, "keyId"));
  cJSON_AddStringToObject(record, "publicKey",
                          text_of(member(attestation, "publicKey"), "x963"));
  cJSON_AddStringToObject(record, "appId", text_of(attestation, "appId"));
  cJSON_AddStringToObject(record, "environment",
                          text_of(attestation, "environment"));
  cJSON_AddNumberToObject(record, "counter", 0);
  cJSON_AddStringToObject(record, "receipt",
                          text_of(member(attestation, "receipt"), "bytes"));
  return record;
}

static int keep(const char *path, const cJSON *root) {
  cJSON *record = record_of(member(root, "attestation"));
  int written = write_record(path, record);
  printf("verified: attestation\n");
  printf("  key     %s\n", text_of(record, "keyId"));
  printf("  app     %s, %s\n", text_of(record, "appId"),
         text_of(record, "environment"));
  cJSON_Delete(record);
  return written ? VERIFIED : USAGE;
}

static int advance(const char *path, cJSON *record, const cJSON *root) {
  const cJSON *assertion = member(root, "assertion");
  const cJSON *counter = member(assertion, "counter");
  cJSON_ReplaceItemInObjectCaseSensitive(record, "counter",
                                         cJSON_Duplicate(counter, 0));
  printf("verified: assertion\n");
  printf("  counter %.0f\n", counter == NULL ? 0 : counter->valuedouble);
  return write_record(path, record) ? VERIFIED : USAGE;
}

/* ---- the two actions ---------------------------------------------------- */

static int register_key(const assay_verifier *verifier, struct blob object,
                        struct blob data, const struct options *options) {
  assay_doc *doc = NULL;
  cJSON *root;
  FILE *there = fopen(options->record, "rb");
  int code = REFUSED;
  if (there != NULL) {
    fclose(there);
    fprintf(stderr, "%s: a key is bound here already\n", options->record);
    return USAGE;
  }
  assay_verify_attestation(verifier, object.bytes, object.len, options->key_id,
                           strlen(options->key_id), options->client_data_kind,
                           data.bytes, data.len, options->now_ms, &doc);
  root = tree_of(doc);
  if (assay_doc_status(doc) == ASSAY_OK)
    code = keep(options->record, root);
  else
    print_refusal(root);
  cJSON_Delete(root);
  assay_doc_free(doc);
  return code;
}

static int check_request(const assay_verifier *verifier, struct blob object,
                         struct blob data, const struct options *options) {
  struct blob text = blob_of(options->record);
  cJSON *record =
      text.bytes == NULL ? NULL : cJSON_ParseWithLength(text.bytes, text.len);
  const cJSON *counter = member(record, "counter");
  char key_id[KEY_ID_TEXT + 1];
  unsigned char key[LONGEST_KEY];
  size_t key_len = read_base64(text_of(record, "publicKey"), key, sizeof key);
  assay_doc *doc = NULL;
  cJSON *root;
  int code = REFUSED;
  free(text.bytes);
  if (!cJSON_IsNumber(counter) || counter->valuedouble < 0 ||
      counter->valuedouble > UINT32_MAX) {
    fprintf(stderr, "%s: no key record\n", options->record);
    cJSON_Delete(record);
    return USAGE;
  }
  if (!normal_key_id(verifier, options->key_id, options->now_ms, key_id)) {
    cJSON_Delete(record);
    return REFUSED;
  }
  if (strcmp(key_id, text_of(record, "keyId")) != 0) {
    printf("refused:  the record is of another key\n");
    cJSON_Delete(record);
    return REFUSED;
  }
  assay_verify_assertion(verifier, object.bytes, object.len, key, key_len,
                         (uint32_t)counter->valuedouble,
                         options->client_data_kind, data.bytes, data.len,
                         options->now_ms, &doc);
  root = tree_of(doc);
  if (assay_doc_status(doc) == ASSAY_OK)
    code = advance(options->record, record, root);
  else
    print_refusal(root);
  cJSON_Delete(root);
  cJSON_Delete(record);
  assay_doc_free(doc);
  return code;
}

static int read_options(int argc, char **argv, struct options *options) {
  const char **words[] = {&options->config, &options->action,
                          &options->record, &options->object,
                          &options->client_data, &options->key_id};
  size_t count = 0;
  int i;
  memset(options, 0, sizeof *options);
  options->client_data_kind = ASSAY_CLIENT_DATA;
  options->now_ms = clock_ms();
  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
      options->now_ms = strtoll(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--hash") == 0)
      options->client_data_kind = ASSAY_CLIENT_DATA_HASH;
    else if (count < sizeof words / sizeof words[0])
      *words[count++] = argv[i];
    else
      return 0;
  }
  return count == 6 && (strcmp(options->action, "register") == 0 ||
                        strcmp(options->action, "request") == 0);
}

int main(int argc, char **argv) {
  struct options options;
  struct blob object = {NULL, 0}, data = {NULL, 0};
  assay_verifier *verifier;
  int code = USAGE;
  if (!read_options(argc, argv, &options)) {
    fputs("usage: attest CONFIG.json register RECORD.json OBJECT CLIENT_DATA "
          "KEY_ID [--hash] [--at MILLISECONDS]\n"
          "       attest CONFIG.json request  RECORD.json OBJECT CLIENT_DATA "
          "KEY_ID [--hash] [--at MILLISECONDS]\n", stderr);
    return USAGE;
  }
  verifier = verifier_from(options.config);
  if (verifier != NULL) object = blob_of(options.object);
  if (object.bytes != NULL) data = blob_of(options.client_data);
  if (data.bytes != NULL)
    code = strcmp(options.action, "register") == 0
               ? register_key(verifier, object, data, &options)
               : check_request(verifier, object, data, &options);
  free(object.bytes);
  free(data.bytes);
  assay_verifier_free(verifier);
  return code;
}
