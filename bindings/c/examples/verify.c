/*
 * verify.c - verify one StoreKit JWS and print what it says.
 *
 *   verify CONFIG.json KIND [JWS-FILE] [--at MILLISECONDS]
 *
 * KIND is transaction, renewal, notification, app-transaction or
 * realtime-request. Without a file the JWS is read from standard input.
 * Exit code 0: verified. 1: refused, with the reason. 2: incorrect usage.
 *
 *   cc verify.c -o verify $(pkg-config --cflags --libs assay libcjson)
 */
#include <assay.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VERIFIED = 0, REFUSED = 1, USAGE = 2 };

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

/* What a file or a terminal adds after a JWS is not part of it. */
static size_t without_line_end(const char *text, size_t len) {
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
  return len;
}

static int32_t kind_of(const char *name) {
  static const char *const names[] = {"transaction", "renewal", "notification",
                                      "app-transaction", "realtime-request"};
  int32_t i;
  for (i = 0; i < 5; i++)
    if (strcmp(name, names[i]) == 0) return ASSAY_JWS_TRANSACTION + i;
  return 0;
}

static int64_t now_ms(void) { return (int64_t)time(NULL) * 1000; }

/* The text of one member of an object, or "" when it has none. */
static const char *text_of(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static void print_refusal(const cJSON *root) {
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
  printf("refused: %s\n", text_of(cJSON_GetObjectItemCaseSensitive(
                                      root, "status"), "name"));
  printf("  because %s\n", text_of(error, "message"));
  printf("  check   %s\n", text_of(error, "check"));
  printf("  at      %s\n", text_of(error, "at"));
  printf("  hint    %s\n", text_of(error, "hint"));
}

/* The facts are in the member after the envelope: print those of one line. */
static void print_facts(const cJSON *root) {
  static const char *const names[] = {"transaction", "renewal", "notification",
                                      "appTransaction", "realtimeRequest"};
  const cJSON *facts = NULL, *fact;
  size_t i;
  for (i = 0; i < sizeof names / sizeof names[0] && facts == NULL; i++)
    facts = cJSON_GetObjectItemCaseSensitive(root, names[i]);
  printf("verified: %s\n", text_of(root, "kind"));
  cJSON_ArrayForEach(fact, facts) {
    if (cJSON_IsString(fact) && strlen(fact->valuestring) < 200)
      printf("  %-28s %s\n", fact->string, fact->valuestring);
    else if (cJSON_IsNumber(fact))
      printf("  %-28s %.0f\n", fact->string, fact->valuedouble);
    else if (cJSON_IsBool(fact))
      printf("  %-28s %s\n", fact->string, cJSON_IsTrue(fact) ? "yes" : "no");
  }
}

static int print_document(const assay_doc *doc, assay_status status) {
  size_t len = 0;
  const char *json = assay_doc_json(doc, &len);
  cJSON *root = cJSON_ParseWithLength(json == NULL ? "" : json, len);
  if (status == ASSAY_OK)
    print_facts(root);
  else
    print_refusal(root);
  cJSON_Delete(root);
  return status == ASSAY_OK ? VERIFIED : REFUSED;
}

static assay_verifier *verifier_from(const char *path) {
  size_t len = 0;
  char *config = read_path(path, &len);
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  if (config == NULL) return NULL;
  if (assay_verifier_new(config, len, &verifier, &doc) != ASSAY_OK)
    print_document(doc, assay_doc_status(doc));
  assay_doc_free(doc);
  free(config);
  return verifier;
}

int main(int argc, char **argv) {
  assay_verifier *verifier;
  assay_doc *doc = NULL;
  assay_status status;
  const char *path = NULL;
  char *jws;
  size_t len = 0;
  int64_t at_ms = now_ms();
  int32_t kind = argc > 2 ? kind_of(argv[2]) : 0;
  int i, code;
  for (i = 3; i < argc; i++) {
    if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
      at_ms = strtoll(argv[++i], NULL, 10);
    else
      path = argv[i];
  }
  if (kind == 0) {
    fputs("usage: verify CONFIG.json KIND [JWS-FILE] [--at MILLISECONDS]\n",
          stderr);
    return USAGE;
  }
  verifier = verifier_from(argv[1]);
  if (verifier == NULL) return USAGE;
  jws = read_path(path, &len);
  if (jws == NULL) {
    assay_verifier_free(verifier);
    return USAGE;
  }
  status = assay_verify_jws(verifier, kind, jws, without_line_end(jws, len),
                            at_ms, &doc);
  code = print_document(doc, status);
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  free(jws);
  return code;
}
