/* Frame of a function that many threads run over one verifier. */
#include "evidence.h"
#include <pthread.h>

static char *jws;
static size_t jws_len;
static int64_t now_ms;

/* SNIPPET */

int main(void) {
  pthread_t threads[8];
  size_t i;
  jws = printed(MINT "transaction", &jws_len);
  now_ms = present_ms();
  assay_verifier *verifier = verifier_of("authority/config.json");
  for (i = 0; i < 8; i++)
    must(pthread_create(&threads[i], NULL, verify, verifier) == 0, "thread");
  for (i = 0; i < 8; i++) {
    void *result = NULL;
    must(pthread_join(threads[i], &result) == 0, "an end");
    must(result == verifier, "verified");
  }
  assay_verifier_free(verifier);
  return 0;
}
