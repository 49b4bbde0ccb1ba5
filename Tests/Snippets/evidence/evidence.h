/*
 * Evidence for the frames of C blocks, minted into the folder of the page; and
 * a verifier with the test authority's roots.
 */
#ifndef SNIPPET_EVIDENCE_H
#define SNIPPET_EVIDENCE_H

#include <assay.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 1 << 20 };

/* Returns what a command prints, octet by octet; never freed. */
static char *piped(const char *command, size_t *length) {
  char *text = calloc(1, LONGEST);
  FILE *pipe = popen(command, "r");
  if (text == NULL || pipe == NULL) exit(90);
  *length = fread(text, 1, LONGEST - 1, pipe);
  if (pclose(pipe) != 0) exit(91);
  return text;
}

/* Returns the text that a command prints, without the last line end; never freed. */
static char *printed(const char *command, size_t *length) {
  char *text = piped(command, length);
  if (*length > 0 && text[*length - 1] == '\n') text[--*length] = 0;
  return text;
}

static assay_verifier *verifier_of(const char *path) {
  char command[200];
  size_t length;
  assay_verifier *verifier = NULL;
  snprintf(command, sizeof command, "cat %s", path);
  char *config = printed(command, &length);
  if (assay_verifier_new(config, length, &verifier, NULL) != ASSAY_OK) exit(92);
  return verifier;
}

static int64_t present_ms(void) { return (int64_t)time(NULL) * 1000; }

#define MINT "assay mint --authority authority "

/* Starts an exchange about a minted app receipt, with a verifier for it. */
static assay_status ask_apple(assay_verifier **verifier, assay_exchange **exchange,
                              assay_doc **doc) {
  size_t length;
  char *receipt = printed(MINT "app-receipt", &length);
  char *request = malloc(length + 100);
  receipt[strcspn(receipt, "\n")] = '\0';
  sprintf(request, "{\"operation\":\"call-verify-receipt\",\"receipt\":\"%s\"}", receipt);
  *verifier = verifier_of("authority/config.json");
  return assay_exchange_new(*verifier, request, strlen(request), NULL, 0, present_ms(), exchange,
                            doc);
}

/* The number of requests to Apple. */
static int asked;

/* Returns the reply to the open step as JSON text: first that the receipt is of Sandbox. */
static char *answer_of_apple(const assay_doc *doc) {
  int64_t id = assay_doc_integer(doc, "exchange.http.id", 16, -1);
  size_t length;
  const char *body = printed(asked++ % 2 == 0
                                 ? MINT "verify-receipt-response --apple-status 21007"
                                 : MINT "verify-receipt-response", &length);
  char *answer = malloc(2 * length + 100);
  char *end = answer + sprintf(answer, "{\"id\":%d,\"status\":200,\"body\":{\"text\":\"",
                               (int)id);
  for (; *body != '\0'; body++) {
    if (*body == '"' || *body == '\\') *end++ = '\\';
    *end++ = *body == '\n' ? ' ' : *body;
  }
  strcpy(end, "\"}}");
  return answer;
}

/* Ends the process with an error unless this holds. */
static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(93);
}

#endif
