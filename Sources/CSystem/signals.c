/* What signals do. Its state needs one place: a function in a header that keeps some has it once in
 * each object file that calls it. */
#include "system.h"

enum { LONGEST_PATH = 4096 };
static char unfinished[LONGEST_PATH];
static volatile sig_atomic_t stop;

static void end(int number) {
  if (unfinished[0] != 0) unlink(unfinished);
  signal(number, SIG_DFL);
  raise(number);
}

void system_remove_at_end(const char *path) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t all, before;
  size_t place, length = strlen(path);
  if (length >= LONGEST_PATH) return;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  memcpy(unfinished, path, length + 1);
  for (place = 0; place < sizeof ends / sizeof ends[0]; place++) {
    struct sigaction now;
    if (sigaction(ends[place], NULL, &now) == 0 && now.sa_handler == (length > 0 ? SIG_DFL : end))
      signal(ends[place], length > 0 ? end : SIG_DFL);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void note_stop(int number) { stop = number; }

void system_stop_softly(void) {
  struct sigaction now;
  signal(SIGINT, note_stop);
  signal(SIGTERM, note_stop);
  /* nohup lets a process ignore the end of its terminal. */
  if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) signal(SIGHUP, note_stop);
}

int system_stopped(void) { return (int)stop; }
