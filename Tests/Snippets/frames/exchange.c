/* Frame of an exchange that is done at once. */
#include "evidence.h"

int main(void) {
  size_t length;
  char *minted = printed(MINT "transaction", &length);
  const char *request =
      "{\"operation\":\"assess-risk\",\"observations\":{\"request\":\"read\","
      "\"attestation\":\"verified\"}}";
  int64_t now_ms = present_ms();
  assay_verifier *verifier = verifier_of("authority/config.json");
  /* SNIPPET */
  must(status == ASSAY_OK, assay_status_name(status));
  must(exchange == NULL && minted != NULL, "done at once");
  assay_exchange_free(exchange);
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return 0;
}
