/* Frame of a verification with Apple's roots: evidence of the test authority
 * must be refused, as its root is not Apple's. */
#include "evidence.h"

int main(void) {
  size_t jws_len;
  char *jws = printed(MINT "transaction", &jws_len);
  int64_t now_ms = present_ms();
  /* SNIPPET */
  must((status & 0xff) == ASSAY_REJECTED, "not Apple's root");
  must(strcmp(assay_status_name(status), "rejected.chain.untrusted-root") == 0,
       "its name");
  return 0;
}
