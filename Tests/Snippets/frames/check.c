/* Frame of a whole function `check`, which returns whether a JWS is good. */
#include "evidence.h"
/* SNIPPET */

int main(void) {
  size_t length, forged_length;
  char *jws = printed(MINT "transaction", &length);
  char *forged = printed(MINT "transaction --forge JWS-20", &forged_length);
  assay_verifier *verifier = verifier_of("authority/config.json");
  must(check(verifier, jws, length, present_ms()) == 1, "verified");
  must(check(verifier, forged, forged_length, present_ms()) == 0, "refused");
  assay_verifier_free(verifier);
  return 0;
}
