/* Frame of docs/tasks/run-exchange.md: Apple's response is what was minted. */
#include "evidence.h"

#define now_ms present_ms
#define carried_out(doc, options) answer_of_apple(doc)

int main(void) {
  assay_verifier *verifier;
  assay_exchange *exchange;
  assay_doc *doc;
  assay_status status = ask_apple(&verifier, &exchange, &doc);
  char *answer;
  int options = 0;
  /* SNIPPET */
  must(status == ASSAY_OK, assay_status_name(status));
  must(asked == 2, "the hop");
  assay_exchange_free(exchange);
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return 0;
}
