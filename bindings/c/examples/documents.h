/*
 * documents.h - what the examples share: files, parsed documents, a verifier.
 */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H

#include <assay.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VERIFIED = 0, REFUSED = 1, USAGE = 2 };

/* Returns all bytes of a file, or of standard input for NULL, followed by a
 * NUL; the caller frees them. NULL if the file cannot be opened or memory is
 * exhausted. */
static inline char *read_path(const char *path, size_t *len) {
  FILE *file = path == NULL ? stdin : fopen(path, "rb");
  char *text = NULL, *larger;
  size_t room = 0;
  *len = 0;
  if (file == NULL) {
    perror(path);
    return NULL;
  }
  while (*len == room) {
    larger = realloc(text, (room = room * 2 + 65536) + 1);
    if (larger == NULL) {
      free(text);
      text = NULL;
      break;
    }
    text = larger;
    *len += fread(text + *len, 1, room - *len, file);
  }
  if (text != NULL) text[*len] = '\0';
  if (file != stdin) fclose(file);
  return text;
}

/* Returns the length without the line end that an editor or a terminal adds. */
static inline size_t without_line_end(const char *text, size_t len) {
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
  return len;
}

static inline const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Returns the text of one member of an object; "" if it has none. */
static inline const char *text_of(const cJSON *object, const char *name) {
  const cJSON *item = member(object, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

/* Returns the parsed document; the caller deletes it. */
static inline cJSON *tree_of(const assay_doc *doc) {
  size_t len = 0;
  const char *json = assay_doc_json(doc, &len);
  return cJSON_ParseWithLength(json == NULL ? "" : json, len);
}

/* Prints a refusal. The hint is for the operator, never for the client. */
static inline void print_refusal(const cJSON *root) {
  const cJSON *error = member(root, "error");
  printf("refused:  %s\n", text_of(member(root, "status"), "name"));
  printf("  because %s\n", text_of(error, "message"));
  printf("  check   %s\n", text_of(error, "check"));
  printf("  at      %s\n", text_of(error, "at"));
  printf("  hint    %s\n", text_of(error, "hint"));
}

/* Prints a document with `facts`, or its refusal; returns the exit code. */
static inline int print_document(const assay_doc *doc,
                                 void (*facts)(const cJSON *root)) {
  int is_verified = assay_doc_status(doc) == ASSAY_OK;
  cJSON *root = tree_of(doc);
  (is_verified ? facts : print_refusal)(root);
  cJSON_Delete(root);
  return is_verified ? VERIFIED : REFUSED;
}

/* Returns a verifier of a configuration file; NULL after printing why. */
static inline assay_verifier *verifier_from(const char *path) {
  size_t len = 0;
  char *config = read_path(path, &len);
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  if (config == NULL) return NULL;
  if (assay_verifier_new(config, len, &verifier, &doc) != ASSAY_OK)
    print_document(doc, print_refusal);
  assay_doc_free(doc);
  free(config);
  return verifier;
}

/* Returns the system's time in milliseconds since 1970 UTC. */
static inline int64_t clock_ms(void) { return (int64_t)time(NULL) * 1000; }

#endif
