/* What Swift cannot import from the C library: variadic functions, and
 * errno. Swift's own module for it would bring all of <math.h>, and with that a newer
 * glibc than the library asks for. */
#ifndef ASSAY_SYSTEM_H
#define ASSAY_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** open(2); `mode` applies if a file is created. */
static inline int system_open(const char *path, int flags, mode_t mode) {
  return open(path, flags, mode);
}

/** read(2) and write(2), whose names Swift's own functions have too. */
static inline ssize_t system_read(int descriptor, void *bytes, size_t count) {
  return read(descriptor, bytes, count);
}
static inline ssize_t system_write(int descriptor, const void *bytes, size_t count) {
  return write(descriptor, bytes, count);
}

/** Why the last call failed. */
static inline int system_error(void) { return errno; }

/** The S_IF bits of a mode. */
static inline int system_is_folder(mode_t mode) { return S_ISDIR(mode); }
static inline int system_is_file(mode_t mode) { return S_ISREG(mode); }

#endif
