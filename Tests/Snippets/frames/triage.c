/* Frame of triage and the verification behind it. */
#include "evidence.h"

int main(void) {
  size_t blob_len;
  unsigned char vendor_id[16];
  assay_doc *doc = NULL;
  assay_status status;
  int64_t now_ms = present_ms();
  memset(vendor_id, 0x5a, sizeof vendor_id);
  char *blob = printed(
      MINT "app-receipt --device 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a", &blob_len);
  assay_verifier *verifier = verifier_of("authority/config.json");
  /* SNIPPET */
  must(status == ASSAY_OK, assay_status_name(status));
  must(assay_doc_text(doc, "appReceipt.bundleId", 19, NULL) != NULL, "facts");
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return 0;
}
