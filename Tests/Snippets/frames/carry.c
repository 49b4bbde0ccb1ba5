/* Frame of docs/tasks/carrying-out.md: Apple says what was minted. */
#include "evidence.h"

static char *said[2];
static int asked;

static int64_t now_ms(void) { return present_ms(); }

/* The answer to the open step: the next body, as text in JSON. */
static char *carried_out(const assay_doc *doc, const int *options) {
  int64_t id = *options + assay_doc_integer(doc, "exchange.request.id", 19, -1);
  const char *body = said[asked++ % 2];
  char *answer = malloc(2 * strlen(body) + 100);
  char *end = answer + sprintf(answer, "{\"id\":%d,\"status\":200,\"body\":{\"text\":\"",
                               (int)id);
  for (; *body != '\0'; body++) {
    if (*body == '"' || *body == '\\') *end++ = '\\';
    *end++ = *body == '\n' ? ' ' : *body;
  }
  strcpy(end, "\"}}");
  return answer;
}

int main(void) {
  size_t length;
  char *receipt = printed(MINT "app-receipt", &length);
  char *request = malloc(length + 100);
  assay_verifier *verifier = verifier_of("authority/config.json");
  assay_exchange *exchange;
  assay_doc *doc;
  assay_status status;
  char *answer;
  int options = 0;
  said[0] = printed(MINT "verify-receipt --apple-status 21007", &length);
  said[1] = printed(MINT "verify-receipt", &length);
  receipt[strcspn(receipt, "\n")] = '\0';
  sprintf(request, "{\"kind\":\"verifyReceipt\",\"receipt\":\"%s\"}", receipt);
  status = assay_exchange_new(verifier, request, strlen(request), NULL, 0, now_ms(), &exchange,
                              &doc);
  /* SNIPPET */
  must(status == ASSAY_OK, assay_status_name(status));
  must(asked == 2, "the hop");
  assay_exchange_free(exchange);
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return 0;
}
