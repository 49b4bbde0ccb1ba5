/*
 * entropy.c - the random source of the Embedded Swift runtime.
 *
 * It seeds the hashing of dictionaries with arc4random_buf, which glibc has
 * only since 2.36: this one serves older systems and stays inside the library.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) void arc4random_buf(void *buffer,
                                                          size_t length);

void arc4random_buf(void *buffer, size_t length) {
  unsigned char *next = buffer;
  while (length > 0) {
    ssize_t got = getrandom(next, length, 0);
    if (got > 0) {
      next += got;
      length -= (size_t)got;
    } else if (got < 0 && errno != EINTR) {
      abort();
    }
  }
}
