/* Frame of docs/tasks/verify-receipt.md: Apple's response is what was minted. */
#include "evidence.h"

#define now_ms present_ms
#define run_exchange answer_of_apple

int main(void) {
  assay_verifier *verifier;
  assay_exchange *exchange;
  assay_doc *doc;
  assay_status status = ask_apple(&verifier, &exchange, &doc);
  /* SNIPPET */
  must(status == ASSAY_OK, assay_status_name(status));
  must(asked == 2, "the hop");
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return 0;
}
