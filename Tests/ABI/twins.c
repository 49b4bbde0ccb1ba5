/*
 * twins.c - no two processes use the same secret number in a signature
 * (EXC-23).
 *
 *   twins SUITE
 *
 * A machine restored twice from a snapshot, or a process in a namespace where
 * it has its parent's id, has a copy of libcrypto's random state and no sign of
 * being a copy. This program simulates both: getpid returns the same id in
 * every process, and processes are made by the system call only.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { TWINS = 3 };

/* Replaces the C library's function, for libcrypto too. */
pid_t getpid(void) { return 42; }

static struct assay_crypto *crypto;
static EVP_PKEY *key;

/* Writes a signature over one digest, preceded by its length. */
static int sign(unsigned char out[73]) {
  static const unsigned char digest[32] = {1, 2, 3};
  memset(out, 0, 73);
  out[0] = (unsigned char)assay_shim_sign(crypto, key, digest, out + 1);
  return out[0] != 0;
}

static int sign_in_copy(unsigned char out[73]) {
  int ends[2], status = 1, good;
  long child;
  if (pipe(ends) != 0) return 0;
  child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(!(sign(out) && write(ends[1], out, 73) == 73));
  good = child > 0 && waitpid((pid_t)child, &status, 0) == child && status == 0 &&
         read(ends[0], out, 73) == 73;
  close(ends[0]);
  close(ends[1]);
  return good;
}

int main(int argc, char **argv) {
  static const unsigned char scalar[32] = {5};
  unsigned char half[65], made[TWINS + 2][73];
  int i, j, failed = 0;
  crypto = assay_shim_open();
  if (argc < 2 || crypto == NULL) return 2;
  key = assay_shim_private_key(crypto, scalar, sizeof scalar, NULL, 0, half);
  if (key == NULL || !sign(made[TWINS])) return 2;
  for (i = 0; i < TWINS; i++) failed += !sign_in_copy(made[i]);
  failed += !sign(made[TWINS + 1]);
  for (i = 0; i < TWINS + 2; i++)
    for (j = 0; j < i; j++) failed += memcmp(made[i], made[j], 73) == 0;
  if (failed != 0) puts("FAILED twins: two processes made one signature, or one made none");
  printf("suite %s: %d passed, %d failed, 0 skipped\n", argv[1], failed == 0, failed != 0);
  EVP_PKEY_free(key);
  return failed != 0;
}
