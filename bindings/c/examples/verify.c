/*
 * verify.c - verify one StoreKit JWS and print its facts.
 *
 *   verify CONFIG.json KIND [JWS-FILE] [--at MILLISECONDS]
 *
 * KIND is transaction, renewal-info, notification, app-transaction or
 * realtime-request. Without a file the JWS is read from standard input.
 * Exit code 0: verified. 1: refused, with the reason. 2: incorrect usage.
 *
 *   cc verify.c -o verify $(pkg-config --cflags --libs assay libcjson)
 */
#include "documents.h"

static int32_t kind_of(const char *name) {
  static const char *const names[] = {"transaction", "renewal-info",
                                      "notification", "app-transaction",
                                      "realtime-request"};
  int32_t i;
  for (i = 0; i < 5; i++)
    if (strcmp(name, names[i]) == 0) return ASSAY_JWS_TRANSACTION + i;
  return 0;
}

/* Prints the facts of one line each, in the member after the envelope. */
static void print_facts(const cJSON *root) {
  static const char *const names[] = {"transaction", "renewalInfo", "notification",
                                      "appTransaction", "realtimeRequest"};
  const cJSON *facts = NULL, *fact;
  size_t i;
  for (i = 0; i < sizeof names / sizeof names[0] && facts == NULL; i++)
    facts = member(root, names[i]);
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

int main(int argc, char **argv) {
  assay_verifier *verifier;
  assay_doc *doc = NULL;
  const char *path = NULL;
  char *jws;
  size_t len = 0;
  int64_t at_ms = clock_ms();
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
  assay_verify_jws(verifier, kind, jws, without_line_end(jws, len), at_ms, &doc);
  code = print_document(doc, print_facts);
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  free(jws);
  return code;
}
