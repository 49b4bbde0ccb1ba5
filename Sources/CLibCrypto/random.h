/*
 * random.h - random octets, from the system at each call.
 *
 * No generator of our own stands between: what one keeps can be there twice, in a
 * process that was forked into a namespace where it has its parent's id, or in two
 * machines that were restored from one snapshot (EXC-23). The system call itself,
 * because the C library's function is a cancellation point.
 */
#ifndef ASSAY_CLIBCRYPTO_RANDOM_H
#define ASSAY_CLIBCRYPTO_RANDOM_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 1: `out` has so many random octets; 0: the system gives none. */
static inline int assay_system_random(void *out, size_t length) {
  unsigned char *next = (unsigned char *)out;
  while (length > 0) {
    long got = syscall(SYS_getrandom, next, length, 0);
    if (got > 0) {
      next += got;
      length -= (size_t)got;
    } else if (got == 0 || errno != EINTR) {
      return 0;
    }
  }
  return 1;
}

#endif /* ASSAY_CLIBCRYPTO_RANDOM_H */
