/*
 * entropy.c - the random source of the Embedded Swift runtime.
 *
 * The runtime seeds the hashing of dictionaries with arc4random_buf, which glibc
 * has only since 2.36: this function serves older systems and stays hidden
 * inside the library.
 */
#include <stdlib.h>

#include "../../CLibCrypto/random.h"

__attribute__((visibility("hidden"))) void arc4random_buf(void *buffer,
                                                          size_t length);

void arc4random_buf(void *buffer, size_t length) {
  if (!assay_system_random(buffer, length)) abort();
}
