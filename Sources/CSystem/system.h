/* What Swift cannot import from the C library: variadic functions, and
 * errno. Swift's own module for it would bring all of <math.h>, and with that a newer
 * glibc than the library asks for. */
#ifndef ASSAY_SYSTEM_H
#define ASSAY_SYSTEM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/** The file that SIGINT, SIGTERM and SIGHUP remove before they end the process; "": none
 * any more. A longer path than the system takes, and a signal that is ignored, are left as they
 * are. */
void system_remove_at_end(const char *path);

/** From now on SIGINT, SIGTERM and SIGHUP end nothing: system_stopped() tells of them. A SIGHUP
 * that is ignored stays so. */
void system_stop_softly(void);
/** The signal that came; 0: none. */
int system_stopped(void);

/** Opens /dev/null in place of standard input, output and errors that are closed, for reading
 * alone: no file that is opened later gets their numbers, reading finds nothing, and what is
 * written fails as it did. */
static inline void system_hold_standard(void) {
  int descriptor;
  for (descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) (void)open("/dev/null", O_RDONLY);
}

/** Whether the end of standard input is that of another process: it is a pipe or a socket, and
 * no file, terminal or /dev/null. */
static inline int system_input_is_held(void) {
  struct stat there;
  return fstat(0, &there) == 0 && (S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode));
}

/** The files of a folder, one a call: opened, asked for a name until there is none, closed. */
static inline void *system_folder(const char *path) { return opendir(path); }
static inline const char *system_next_name(void *folder) {
  struct dirent *entry = readdir((DIR *)folder);
  return entry == NULL ? NULL : entry->d_name;
}
static inline void system_folder_end(void *folder) { closedir((DIR *)folder); }

/** Why the last call failed. */
static inline int system_error(void) { return errno; }

/** The S_IF bits of a mode. */
static inline int system_is_folder(mode_t mode) { return S_ISDIR(mode); }
static inline int system_is_file(mode_t mode) { return S_ISREG(mode); }

#endif
