/* Frame of one signed request: the stored device key and the body as received. */
#include "evidence.h"

int main(void) {
  size_t assertion_len, length, body_len = 5;
  const char *body = "hello";
  uint32_t stored_counter = 7;
  int64_t new_counter = -1, now_ms = present_ms();
  unsigned char public_key[65];
  assay_doc *doc = NULL;
  assay_status status;
  char *assertion = piped(
      MINT "assertion --client-data hello --counter 8 | base64 -d",
      &assertion_len);
  char *key = piped("jq -r .publicKey authority/device.json | base64 -d",
                    &length);
  must(length == sizeof public_key, "the length of the key");
  memcpy(public_key, key, sizeof public_key);
  assay_verifier *verifier = verifier_of("authority/config.json");
  /* SNIPPET */
  must(new_counter == 8, assay_status_name(status));
  assay_verifier_free(verifier);
  return 0;
}
