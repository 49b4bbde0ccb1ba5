/* process.h - functions for a harness of many processes that Swift does not offer. */
#ifndef ASSAY_MUTANTS_PROCESS_H
#define ASSAY_MUTANTS_PROCESS_H

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks. Returns 0 in the child, which dies after this many seconds of CPU time, or
   twenty times as many of real time; in the parent the child's id. */
static inline int process_fork(unsigned seconds) {
  int child = fork();
  if (child == 0) {
    struct rlimit limit = {seconds, seconds + 1};
    (void)setrlimit(RLIMIT_CPU, &limit);
    alarm(20 * seconds);
  }
  return child;
}

/* Returns the exit status of the child, or 256 and the signal that ended it. */
static inline int process_wait(int child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

#endif
