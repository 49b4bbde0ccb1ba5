/*
 * cases.c - reads the case table and makes its calls.
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory and files --------------------------------------------------- */

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (memory == NULL) {
    fputs("out of memory\n", stderr);
    exit(2);
  }
  return memory;
}

static char *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  char *text;
  long size;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
      fseek(file, 0, SEEK_SET) != 0) {
    fclose(file);
    return NULL;
  }
  text = allocate((size_t)size + 1, 1);
  *len = fread(text, 1, (size_t)size, file);
  fclose(file);
  if (*len != (size_t)size) {
    free(text);
    return NULL;
  }
  return text;
}

/* ---- JSON --------------------------------------------------------------- */

const char *json_text(const cJSON *object, const char *name,
                      const char *fallback) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsString(item) ? item->valuestring : fallback;
}

int64_t json_int(const cJSON *object, const char *name, int64_t fallback) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  if (cJSON_IsString(item)) return strtoll(item->valuestring, NULL, 10);
  if (!cJSON_IsNumber(item)) return fallback;
  if (item->valuedouble >= 9223372036854775807.0) return INT64_MAX;
  if (item->valuedouble <= -9223372036854775808.0) return INT64_MIN;
  return (int64_t)item->valuedouble;
}

const cJSON *json_at(const cJSON *root, const char *path) {
  const cJSON *item = root;
  while (item != NULL && *path != '\0') {
    size_t len = strcspn(path, ".");
    char *name = allocate(len + 1, 1);
    memcpy(name, path, len);
    if (cJSON_IsArray(item))
      item = cJSON_GetArrayItem(item, atoi(name));
    else
      item = cJSON_GetObjectItemCaseSensitive(item, name);
    free(name);
    path += len;
    if (*path == '.') path++;
  }
  return item;
}

/*
 * Writes a configuration as text. cJSON's own printer turns large whole numbers
 * into exponents, which a strict reader does not accept as integers.
 */
static void write_json(FILE *out, const cJSON *item) {
  const cJSON *child;
  char *text;
  if (cJSON_IsNumber(item) &&
      item->valuedouble == (double)(int64_t)item->valuedouble) {
    fprintf(out, "%lld", (long long)item->valuedouble);
  } else if (cJSON_IsArray(item) || cJSON_IsObject(item)) {
    fputc(cJSON_IsArray(item) ? '[' : '{', out);
    for (child = item->child; child != NULL; child = child->next) {
      if (child != item->child) fputc(',', out);
      if (cJSON_IsObject(item)) {
        cJSON *name = cJSON_CreateString(child->string);
        text = cJSON_PrintUnformatted(name);
        fprintf(out, "%s:", text);
        cJSON_free(text);
        cJSON_Delete(name);
      }
      write_json(out, child);
    }
    fputc(cJSON_IsArray(item) ? ']' : '}', out);
  } else {
    text = cJSON_PrintUnformatted(item);
    fputs(text, out);
    cJSON_free(text);
  }
}

static char *configuration_text(const cJSON *config, size_t *len) {
  char *text = NULL;
  FILE *out;
  if (cJSON_IsString(config)) {
    *len = strlen(config->valuestring);
    text = allocate(*len, 1);
    memcpy(text, config->valuestring, *len);
    return text;
  }
  out = open_memstream(&text, len);
  if (out == NULL) return NULL;
  write_json(out, config);
  fclose(out);
  return text;
}

/* ---- input bytes -------------------------------------------------------- */

void bytes_free(struct bytes *bytes) {
  free(bytes->data);
  bytes->data = NULL;
  bytes->len = 0;
}

static int base64_value(char c) {
  const char *alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c == '\0' ? NULL : strchr(alphabet, c);
  return found == NULL ? -1 : (int)(found - alphabet);
}

static int base64_bytes(const char *text, struct bytes *out) {
  unsigned bits = 0;
  int held = 0;
  out->data = allocate(strlen(text) / 4 * 3 + 3, 1);
  out->len = 0;
  for (; *text != '\0' && *text != '='; text++) {
    int value = base64_value(*text);
    if (value < 0) {
      bytes_free(out);
      return -1;
    }
    bits = (bits << 6 | (unsigned)value) & 0xffffu;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out->data[out->len++] = (char)(unsigned char)(bits >> held & 0xffu);
    }
  }
  out->data = realloc(out->data, out->len ? out->len : 1);
  return out->data == NULL ? -1 : 0;
}

static int repeated_bytes(const cJSON *repeat, struct bytes *out) {
  const char *prefix = json_text(repeat, "prefix", "");
  const char *unit = json_text(repeat, "unit", NULL);
  const char *suffix = json_text(repeat, "suffix", "");
  int64_t count = json_int(repeat, "count", -1);
  size_t unit_len, at;
  int64_t i;
  if (unit == NULL || count < 0 || count > 100000000) return -1;
  unit_len = strlen(unit);
  out->len = strlen(prefix) + unit_len * (size_t)count + strlen(suffix);
  out->data = allocate(out->len, 1);
  at = strlen(prefix);
  memcpy(out->data, prefix, at);
  for (i = 0; i < count; i++, at += unit_len)
    memcpy(out->data + at, unit, unit_len);
  memcpy(out->data + at, suffix, strlen(suffix));
  return 0;
}

int case_input(const cJSON *item, const char *name, struct bytes *out) {
  char base64_name[32];
  char repeat_name[32];
  const char *text = json_text(item, name, NULL);
  const char *base64;
  snprintf(base64_name, sizeof base64_name, "%sBase64", name);
  snprintf(repeat_name, sizeof repeat_name, "%sRepeat", name);
  base64 = json_text(item, base64_name, NULL);
  if (text != NULL) {
    out->len = strlen(text);
    out->data = allocate(out->len, 1);
    memcpy(out->data, text, out->len);
    return 0;
  }
  if (base64 != NULL) return base64_bytes(base64, out);
  return repeated_bytes(cJSON_GetObjectItemCaseSensitive(item, repeat_name),
                        out);
}

int32_t kind_of(const char *name) {
  static const struct {
    const char *name;
    int32_t kind;
  } kinds[] = {
      {"transaction", ASSAY_JWS_TRANSACTION},
      {"renewal-info", ASSAY_JWS_RENEWAL_INFO},
      {"notification", ASSAY_JWS_NOTIFICATION},
      {"app-transaction", ASSAY_JWS_APP_TRANSACTION},
      {"realtime-request", ASSAY_JWS_REALTIME_REQUEST},
  };
  size_t i;
  for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
  return 0;
}

int32_t receipt_kind_of(const char *name) {
  if (strcmp(name, "transaction-receipt") == 0)
    return ASSAY_RECEIPT_TRANSACTION;
  if (strcmp(name, "app-receipt") == 0) return ASSAY_RECEIPT_APP;
  if (strcmp(name, "attest-receipt") == 0) return ASSAY_RECEIPT_ATTEST;
  return 0;
}

/* ---- the table ---------------------------------------------------------- */

assay_verifier *case_table_verifier(const struct case_table *table,
                                    const char *name) {
  size_t i;
  for (i = 0; i < table->verifier_count; i++)
    if (strcmp(table->verifier_names[i], name) == 0) return table->verifiers[i];
  return NULL;
}

static const cJSON *configurations(const struct case_table *table) {
  return cJSON_GetObjectItemCaseSensitive(table->root, "verifiers");
}

int case_table_build(struct case_table *table, const char *name) {
  const cJSON *config =
      cJSON_GetObjectItemCaseSensitive(configurations(table), name);
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  size_t len = 0;
  char *text;
  if (config == NULL) return -1;
  text = configuration_text(config, &len);
  status = assay_verifier_new(text, len, &verifier, &doc);
  free(text);
  if (status != ASSAY_OK)
    fprintf(stderr, "verifier %s: %s\n", name, assay_doc_json(doc, NULL));
  assay_doc_free(doc);
  if (status != ASSAY_OK) return -1;
  table->verifier_names[table->verifier_count] = config->string;
  table->verifiers[table->verifier_count++] = verifier;
  return 0;
}

static void allocate_verifiers(struct case_table *table) {
  size_t count = (size_t)cJSON_GetArraySize(configurations(table));
  table->verifier_names = allocate(count, sizeof *table->verifier_names);
  table->verifiers = allocate(count, sizeof *table->verifiers);
}

/* Returns a hash of the call, the kind and the expected status of a case; for
 * an accepted case also of its verifier. */
static uint64_t case_sort(const cJSON *item) {
  const char *status = json_text(
      cJSON_GetObjectItemCaseSensitive(item, "expect"), "status", "");
  const char *words[] = {
      json_text(item, "call", ""), json_text(item, "kind", ""), status,
      strcmp(status, "ok") == 0 ? json_text(item, "verifier", "") : ""};
  uint64_t sum = 0xcbf29ce484222325; /* FNV-1a */
  size_t i;
  for (i = 0; i < sizeof words / sizeof words[0]; i++) {
    const char *at = words[i];
    do sum = (sum ^ (unsigned char)*at) * 0x100000001b3;
    while (*at++ != '\0');
  }
  return sum;
}

/* Keeps the first case of every sort, and every `every`th of the others. */
static void thin(cJSON *cases, long every) {
  uint64_t seen[4096];
  size_t count = 0;
  long number = 0;
  cJSON *item, *next;
  for (item = cases->child; item != NULL; item = next) {
    const uint64_t sort = case_sort(item);
    size_t i = 0;
    next = item->next;
    while (i < count && seen[i] != sort) i++;
    if (i == count && count < sizeof seen / sizeof seen[0])
      seen[count++] = sort;
    else if (number % every != 0)
      cJSON_Delete(cJSON_DetachItemViaPointer(cases, item));
    number++;
  }
}

int case_table_read(struct case_table *table, const char *path) {
  const char *every = getenv("ASSAY_EVERY");
  size_t len = 0;
  char *text = read_file(path, &len);
  memset(table, 0, sizeof *table);
  if (text == NULL) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return -1;
  }
  table->root = cJSON_ParseWithLength(text, len);
  free(text);
  table->cases = cJSON_GetObjectItemCaseSensitive(table->root, "cases");
  if (json_int(table->root, "assayCases", 0) != 1 ||
      cJSON_GetArraySize(table->cases) == 0) {
    fprintf(stderr, "%s: is no case table of form 1\n", path);
    return -1;
  }
  if (every != NULL && strtol(every, NULL, 10) > 1)
    thin(cJSON_GetObjectItemCaseSensitive(table->root, "cases"),
         strtol(every, NULL, 10));
  allocate_verifiers(table);
  return 0;
}

void case_table_share(struct case_table *own, const struct case_table *table) {
  memset(own, 0, sizeof *own);
  own->root = table->root;
  own->root_is_shared = 1;
  own->cases = table->cases;
  allocate_verifiers(own);
}

int case_table_build_all(struct case_table *table) {
  const cJSON *config;
  cJSON_ArrayForEach(config, configurations(table)) {
    if (case_table_build(table, config->string) != 0) return -1;
  }
  return 0;
}

int case_table_open(struct case_table *table, const char *path) {
  if (case_table_read(table, path) != 0) return -1;
  return case_table_build_all(table);
}

void case_table_clear(struct case_table *table) {
  while (table->verifier_count > 0)
    assay_verifier_free(table->verifiers[--table->verifier_count]);
}

void case_table_close(struct case_table *table) {
  case_table_clear(table);
  free(table->verifiers);
  free((void *)table->verifier_names);
  if (!table->root_is_shared) cJSON_Delete(table->root);
  memset(table, 0, sizeof *table);
}

/* ---- calls -------------------------------------------------------------- */

/* Reads the subject that a case may have beside its evidence: NULL if it has
 * none. */
static int case_subject(const cJSON *item, struct bytes *out) {
  out->data = NULL;
  out->len = 0;
  if (!cJSON_HasObjectItem(item, "subjectBase64")) return 0;
  return case_input(item, "subject", out);
}

static int run_receipt(const assay_verifier *verifier, int32_t kind,
                       const cJSON *item, int64_t now_ms, assay_status *status,
                       assay_doc **doc) {
  struct bytes input = {NULL, 0};
  struct bytes subject = {NULL, 0};
  int failed = verifier == NULL || case_input(item, "receipt", &input) != 0 ||
               case_subject(item, &subject) != 0;
  if (!failed)
    *status = assay_verify_receipt(verifier, kind, input.data, input.len,
                                   subject.data, subject.len, now_ms, doc);
  bytes_free(&input);
  bytes_free(&subject);
  return failed ? -1 : 0;
}

/* Evidence about a device key, with the key id or public key and the client
 * data. */
struct key_evidence {
  struct bytes object;
  struct bytes key;
  struct bytes data;
  int32_t data_kind;
};

static void key_evidence_free(struct key_evidence *evidence) {
  bytes_free(&evidence->object);
  bytes_free(&evidence->key);
  bytes_free(&evidence->data);
}

static int read_key_evidence(const cJSON *item, const char *name,
                             const char *key, struct key_evidence *out) {
  memset(out, 0, sizeof *out);
  out->data_kind = (int32_t)json_int(item, "clientDataKind", 0);
  if (case_input(item, name, &out->object) == 0 &&
      case_input(item, key, &out->key) == 0 &&
      case_input(item, "clientData", &out->data) == 0)
    return 0;
  key_evidence_free(out);
  return -1;
}

static int run_attestation(const assay_verifier *verifier, const cJSON *item,
                           int64_t now_ms, assay_status *status,
                           assay_doc **doc) {
  struct key_evidence in;
  if (verifier == NULL ||
      read_key_evidence(item, "attestation", "keyId", &in) != 0)
    return -1;
  *status = assay_verify_attestation(
      verifier, in.object.data, in.object.len, in.key.data, in.key.len,
      in.data_kind, in.data.data, in.data.len, now_ms, doc);
  key_evidence_free(&in);
  return 0;
}

static int run_assertion(const assay_verifier *verifier, const cJSON *item,
                         int64_t now_ms, assay_status *status,
                         assay_doc **doc) {
  struct key_evidence in;
  uint32_t counter = (uint32_t)json_int(item, "counter", 0);
  if (verifier == NULL ||
      read_key_evidence(item, "assertion", "publicKey", &in) != 0)
    return -1;
  *status = assay_verify_assertion(
      verifier, in.object.data, in.object.len, in.key.data, in.key.len,
      counter, in.data_kind, in.data.data, in.data.len, now_ms, doc);
  key_evidence_free(&in);
  return 0;
}

static int run_triage(const assay_verifier *verifier, const cJSON *item,
                      int64_t now_ms, assay_status *status, assay_doc **doc) {
  struct bytes blob = {NULL, 0};
  if (verifier == NULL || case_input(item, "blob", &blob) != 0) return -1;
  *status = assay_triage(verifier, blob.data, blob.len, now_ms, doc);
  bytes_free(&blob);
  return 0;
}

static int run_answer(const assay_verifier *verifier, const cJSON *item,
                      int64_t now_ms, assay_status *status, assay_doc **doc) {
  struct bytes body = {NULL, 0};
  if (verifier == NULL || case_input(item, "body", &body) != 0) return -1;
  *status = assay_read_verify_receipt_response(verifier, body.data, body.len,
                                               now_ms, doc);
  bytes_free(&body);
  return 0;
}

static int run_jws(const assay_verifier *verifier, int32_t kind,
                   const cJSON *item, int64_t now_ms, assay_status *status,
                   assay_doc **doc) {
  struct bytes input = {NULL, 0};
  if (verifier == NULL || case_input(item, "jws", &input) != 0) return -1;
  *status =
      assay_verify_jws(verifier, kind, input.data, input.len, now_ms, doc);
  bytes_free(&input);
  return 0;
}

/* Reads the key set of a case. Returns 0 if a key set was made exactly when the
 * status is ASSAY_OK. */
static int read_keyset(const cJSON *item, assay_keyset **keys,
                       assay_status *status, assay_doc **doc) {
  struct bytes text = {NULL, 0};
  if (case_input(item, "jwks", &text) != 0) return -1;
  *status = assay_keyset_new(text.data, text.len, keys, doc);
  bytes_free(&text);
  return (*status == ASSAY_OK) == (*keys != NULL) ? 0 : -1;
}

static int run_keyset(const cJSON *item, assay_status *status,
                      assay_doc **doc) {
  assay_keyset *keys = NULL;
  int failed = read_keyset(item, &keys, status, doc);
  assay_keyset_free(keys);
  return failed;
}

int case_verify(const assay_verifier *verifier, const cJSON *item,
                int64_t now_ms, assay_status *status, assay_doc **doc) {
  const char *name = json_text(item, "kind", "");
  int32_t jws = kind_of(name), receipt = receipt_kind_of(name);
  if (jws != 0) return run_jws(verifier, jws, item, now_ms, status, doc);
  if (receipt != 0)
    return run_receipt(verifier, receipt, item, now_ms, status, doc);
  if (strcmp(name, "verify-receipt-response") == 0)
    return run_answer(verifier, item, now_ms, status, doc);
  if (strcmp(name, "keyset") == 0) return run_keyset(item, status, doc);
  if (strcmp(name, "attestation") == 0)
    return run_attestation(verifier, item, now_ms, status, doc);
  if (strcmp(name, "assertion") == 0)
    return run_assertion(verifier, item, now_ms, status, doc);
  return -1;
}

static int verify_token(const assay_verifier *verifier,
                        const assay_keyset *keys, const cJSON *item,
                        assay_status *status, assay_doc **doc) {
  struct bytes token = {NULL, 0};
  if (case_input(item, "token", &token) != 0) return -1;
  *status = assay_verify_token(verifier, keys, token.data, token.len,
                               json_int(item, "now", 0), doc);
  bytes_free(&token);
  return 0;
}

/* Verifies the texts that the key set has seen before, then the token. */
static int run_token(const assay_verifier *verifier, const cJSON *item,
                     assay_status *status, assay_doc **doc) {
  const cJSON *earlier = cJSON_GetObjectItemCaseSensitive(item, "earlier");
  const cJSON *seen;
  assay_keyset *keys = NULL;
  int failed = read_keyset(item, &keys, status, doc);
  assay_doc_free(*doc);
  *doc = NULL;
  cJSON_ArrayForEach(seen, earlier) {
    failed =
        failed || verify_token(verifier, keys, seen, status, doc) != 0;
    assay_doc_free(*doc);
    *doc = NULL;
  }
  failed = failed || verify_token(verifier, keys, item, status, doc) != 0;
  assay_keyset_free(keys);
  return failed ? -1 : 0;
}

/* The documents that are the evidence of a case. */
struct documents {
  assay_doc **list;
  size_t count;
};

static void documents_free(struct documents *documents) {
  while (documents->count > 0)
    assay_doc_free(documents->list[--documents->count]);
  free(documents->list);
}

/* Verifies every piece of "evidence", by the case's verifier or its own. */
static int verify_evidence(const struct case_table *table,
                           const assay_verifier *verifier, const cJSON *item,
                           struct documents *out) {
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "evidence");
  int64_t now_ms = json_int(item, "now", 0);
  const cJSON *entry;
  out->list = allocate((size_t)cJSON_GetArraySize(list), sizeof *out->list);
  out->count = 0;
  cJSON_ArrayForEach(entry, list) {
    const char *other = json_text(entry, "verifier", NULL);
    assay_status ignored;
    if (case_verify(other ? case_table_verifier(table, other) : verifier, entry,
                    json_int(entry, "now", now_ms), &ignored,
                    &out->list[out->count++]) != 0) {
      documents_free(out);
      return -1;
    }
  }
  return 0;
}

static int run_decide(const struct case_table *table,
                      const assay_verifier *verifier, const cJSON *item,
                      assay_status *status, assay_doc **doc) {
  const char *account = json_text(item, "account", NULL);
  struct documents evidence;
  if (verifier == NULL ||
      verify_evidence(table, verifier, item, &evidence) != 0)
    return -1;
  *status = assay_decide(verifier, (const assay_doc *const *)evidence.list,
                         evidence.count, account, account ? strlen(account) : 0,
                         json_int(item, "now", 0), doc);
  documents_free(&evidence);
  return 0;
}

/* Makes the request of a case; as a call if `exchange` is NULL. */
static int make_request(const struct case_table *table, const cJSON *item,
                        assay_exchange **exchange, assay_status *status,
                        assay_doc **doc) {
  const assay_verifier *verifier =
      case_table_verifier(table, json_text(item, "verifier", ""));
  struct documents evidence;
  struct bytes request = {NULL, 0};
  int64_t now_ms = json_int(item, "now", 0);
  if (verifier == NULL || case_input(item, "request", &request) != 0)
    return -1;
  if (verify_evidence(table, verifier, item, &evidence) != 0) {
    bytes_free(&request);
    return -1;
  }
  *status = exchange == NULL
                ? assay_call(verifier, request.data, request.len,
                             (const assay_doc *const *)evidence.list,
                             evidence.count, now_ms, doc)
                : assay_exchange_new(verifier, request.data, request.len,
                                     (const assay_doc *const *)evidence.list,
                                     evidence.count, now_ms, exchange, doc);
  documents_free(&evidence);
  bytes_free(&request);
  return 0;
}

int case_call(const struct case_table *table, const cJSON *item,
              assay_status *status, assay_doc **doc) {
  return make_request(table, item, NULL, status, doc);
}

/* Begins the exchange of a case. Returns 0 if an exchange was made exactly when
 * a step is open. */
static int begin_exchange(const struct case_table *table, const cJSON *item,
                          assay_exchange **exchange, assay_status *status,
                          assay_doc **doc) {
  if (make_request(table, item, exchange, status, doc) != 0) return -1;
  return (*exchange != NULL) == ((*status & 0xff) == ASSAY_PENDING) ? 0 : -1;
}

static int run_exchange(const struct case_table *table, const cJSON *item,
                        assay_status *status, assay_doc **doc) {
  assay_exchange *exchange = NULL;
  int failed = begin_exchange(table, item, &exchange, status, doc);
  assay_exchange_free(exchange);
  return failed;
}

/* Runs a transcript: `seen` gets the document before each reply, the caller
 * the one after the last. */
int case_play(const struct case_table *table, const cJSON *item,
              case_step_seen *seen, void *context, assay_status *status,
              assay_doc **doc) {
  const cJSON *steps = cJSON_GetObjectItemCaseSensitive(item, "steps");
  const cJSON *step;
  assay_exchange *exchange = NULL;
  int failed = begin_exchange(table, item, &exchange, status, doc);
  cJSON_ArrayForEach(step, steps) {
    struct bytes answer = {NULL, 0};
    if (failed) break;
    if (seen != NULL)
      seen(context, cJSON_GetObjectItemCaseSensitive(step, "expect"), *status,
           *doc);
    assay_doc_free(*doc);
    *doc = NULL;
    failed = exchange == NULL || case_input(step, "answer", &answer) != 0;
    if (!failed)
      *status = assay_exchange_step(exchange, answer.data, answer.len,
                                    json_int(step, "now", 0), doc);
    bytes_free(&answer);
  }
  assay_exchange_free(exchange);
  return failed ? -1 : 0;
}

static int run_new(const cJSON *item, assay_status *status, assay_doc **doc) {
  assay_verifier *verifier = NULL;
  struct bytes text = {NULL, 0};
  if (case_input(item, "config", &text) != 0) return -1;
  *status = assay_verifier_new(text.data, text.len, &verifier, doc);
  bytes_free(&text);
  if ((*status == ASSAY_OK) != (verifier != NULL)) return -1;
  assay_verifier_free(verifier);
  return 0;
}

int case_run(const struct case_table *table, const cJSON *item,
             assay_status *status, assay_doc **doc) {
  const char *call = json_text(item, "call", "");
  const assay_verifier *verifier =
      case_table_verifier(table, json_text(item, "verifier", ""));
  *doc = NULL;
  if (strcmp(call, "verify_jws") == 0 || strcmp(call, "verify_receipt") == 0)
    return case_verify(verifier, item, json_int(item, "now", 0), status, doc);
  if (strcmp(call, "triage") == 0)
    return run_triage(verifier, item, json_int(item, "now", 0), status, doc);
  if (strcmp(call, "read_verify_receipt_response") == 0)
    return run_answer(verifier, item, json_int(item, "now", 0), status, doc);
  if (strcmp(call, "verify_attestation") == 0)
    return run_attestation(verifier, item, json_int(item, "now", 0), status,
                           doc);
  if (strcmp(call, "verify_assertion") == 0)
    return run_assertion(verifier, item, json_int(item, "now", 0), status, doc);
  if (strcmp(call, "verify_token") == 0)
    return run_token(verifier, item, status, doc);
  if (strcmp(call, "keyset_new") == 0) return run_keyset(item, status, doc);
  if (strcmp(call, "exchange") == 0)
    return run_exchange(table, item, status, doc);
  if (strcmp(call, "transcript") == 0)
    return case_play(table, item, NULL, NULL, status, doc);
  if (strcmp(call, "decide") == 0)
    return run_decide(table, verifier, item, status, doc);
  if (strcmp(call, "verifier_new") == 0) return run_new(item, status, doc);
  if (strcmp(call, "check_expiry") == 0) {
    *status = assay_check_expiry(json_int(item, "expires", ASSAY_NO_DATE),
                                 json_int(item, "grace", ASSAY_NO_DATE),
                                 json_int(item, "revoked", ASSAY_NO_DATE),
                                 json_int(item, "now", 0));
    return 0;
  }
  return -1;
}

int case_holds(const struct case_table *table, const cJSON *item) {
  const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
  assay_status status = -1;
  assay_doc *doc = NULL;
  int good = case_run(table, item, &status, &doc) == 0 &&
             strcmp(assay_status_name(status), json_text(wanted, "status", "")) == 0;
  assay_doc_free(doc);
  if (!good)
    printf("FAILED %s: %s\n", json_text(item, "name", "?"), assay_status_name(status));
  return good;
}

/* ---- repeatable documents ------------------------------------------------ */

/* Returns the length of the signature at the end of a text: in a JWS the part
 * after its last dot. */
static size_t signature_length(const char *text, size_t length) {
  size_t count = 0;
  while (count < length && text[length - count - 1] != '.') count++;
  return count;
}

/* Removes the signature of an offer inside the body of a realtime answer, which
 * is JSON within a text. */
static void remove_offer(char *copy) {
  static const char name[] = "promotionalOfferSignatureV2\\\":\\\"";
  char *text = strstr(copy, name), *end;
  if (text == NULL) return;
  text += sizeof name - 1;
  end = strchr(text, '\\');
  if (end == NULL) return;
  memmove(end - signature_length(text, (size_t)(end - text)), end, strlen(end) + 1);
}

char *repeatable_json(const assay_doc *doc) {
  static const char *const paths[] = {"exchange.token", "exchange.jws",
                                      "exchange.signature", "exchange.clientSecret"};
  size_t length = 0, i;
  const char *json = assay_doc_json(doc, &length);
  char *copy;
  if (json == NULL) return NULL;
  copy = allocate(length + 1, 1);
  memcpy(copy, json, length + 1);
  for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    size_t count = 0, random;
    const char *text = assay_doc_text(doc, paths[i], strlen(paths[i]), &count);
    char *place = text != NULL ? strstr(copy, text) : NULL;
    if (place == NULL) continue;
    random = signature_length(text, count);
    /* A DER signature varies in length, so it is removed instead of masked. */
    memmove(place + count - random, place + count, strlen(place + count) + 1);
  }
  remove_offer(copy);
  return copy;
}
