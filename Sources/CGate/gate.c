/*
 * gate.c - fork waits for what must not be torn (JWS-105).
 *
 * What a call changes along the way (things made at first use, libcrypto's locks
 * and stores) would be torn for good in a child that is forked in the middle.
 * So calls pass a gate, any number at once, and fork closes it: it waits for
 * the calls inside, and those that come meanwhile wait for it. Registered with
 * pthread_atfork at load; _Fork, vfork and clone do not ask.
 *
 * Calls and forks take turns ("phase-fair"): a fork waits for the calls that
 * came before it and for none that came after; a call waits for the fork under
 * way and not for the next one. So neither a storm of forks nor one of calls
 * keeps the other out. A call costs two atomic additions, on one of several
 * cache lines, so that threads on many cores do not meet on a single one.
 *
 * No wait is endless. A host whose fork handlers need a lock that a thread
 * holds while it calls would otherwise hang: after a time the call goes in, and
 * the fork proceeds, as if there were no gate.
 *
 * All state is in this file: 1 KiB, whatever the number of threads.
 */
#include "gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <openssl/crypto.h>
#ifdef OPENSSL_IS_AWSLC
#include <openssl/thread.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  PLACES_BITS = 4,
  PLACES = 1 << PLACES_BITS,
  /* In the low bits of `entered`: a fork is under way, and which of two in turn. */
  TURN = 1,
  CLOSED = 2,
  FORK = CLOSED | TURN,
  /* A call in `entered` and `left`. */
  CALL = 4,
  /* How long to wait, in milliseconds. */
  CALL_WAITS = 5000,
  FORK_WAITS = 10000
};

/* The counts wrap around; they are only compared. */
struct place {
  _Alignas(64) _Atomic uint32_t entered;
  _Atomic uint32_t left;
};

static struct place places[PLACES];
/* Forks of several threads, one after another: tickets. */
static _Atomic uint32_t last_ticket, served;

/* Sleeps until `word` is no longer `seen`, it is woken, or a millisecond has
 * gone. The system call itself, because the C library's waits are cancellation
 * points. */
static void wait_for_change(_Atomic uint32_t *word, uint32_t seen) {
  const struct timespec millisecond = {0, 1000000};
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &millisecond, NULL,
                0);
}

static void wake(_Atomic uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

/* ---- threads ------------------------------------------------------------- */

/*
 * libcrypto keeps something of every thread that called it, in a list under a lock, and
 * removes it when the thread ends: outside of any call. So it is asked to do it here, inside
 * the gate, before it does it by itself: destructors run in the order in which their keys
 * were made, and this one is made at load. A host that used its own libcrypto before it
 * loaded this library has the order the other way round.
 */
static pthread_key_t ending;
static _Atomic int has_ending;

static void end_thread(void *value) {
  uint32_t entered = assay_gate_enter();
  (void)value;
#ifdef OPENSSL_IS_AWSLC
  (void)AWSLC_thread_local_clear();
#else
  OPENSSL_thread_stop();
#endif
  assay_gate_leave(entered);
  /* Entering has set it again. */
  (void)pthread_setspecific(ending, NULL);
}

static void begin_thread(void) {
  if (atomic_load_explicit(&has_ending, memory_order_acquire) &&
      __builtin_expect(pthread_getspecific(ending) == NULL, 0))
    (void)pthread_setspecific(ending, places);
}

static void prepare_threads(void) {
  atomic_store(&has_ending, pthread_key_create(&ending, end_thread) == 0);
}

/* ---- calls --------------------------------------------------------------- */

/* Waits for the fork that is seen in `entered`, and for no later one. */
static __attribute__((noinline, cold)) void wait_for_fork(struct place *place,
                                                          uint32_t seen) {
  int kept = errno, waited;
  for (waited = 0; waited < CALL_WAITS; waited++) {
    uint32_t now = atomic_load_explicit(&place->entered, memory_order_acquire);
    if ((now & FORK) != (seen & FORK)) break;
    wait_for_change(&place->entered, now);
  }
  errno = kept;
}

uint32_t assay_gate_enter(void) {
  /* Each thread has its own stack: a cheap number that differs. */
  uint64_t page = (uint64_t)(uintptr_t)__builtin_frame_address(0) >> 12;
  uint32_t number = (uint32_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >>
                               (64 - PLACES_BITS));
  struct place *place = &places[number];
  uint32_t seen;
  begin_thread();
  seen =
      atomic_fetch_add_explicit(&place->entered, CALL, memory_order_acquire);
  if (__builtin_expect((seen & CLOSED) != 0, 0)) wait_for_fork(place, seen);
  return number;
}

void assay_gate_leave(uint32_t number) {
  struct place *place = &places[number % PLACES];
  atomic_fetch_add_explicit(&place->left, CALL, memory_order_release);
  if (__builtin_expect(
          (atomic_load_explicit(&place->entered, memory_order_relaxed) &
           CLOSED) != 0,
          0)) {
    int kept = errno;
    wake(&place->left);
    errno = kept;
  }
}

/* ---- forks --------------------------------------------------------------- */

static void before_fork(void) {
  uint32_t inside[PLACES];
  uint32_t ticket =
      atomic_fetch_add_explicit(&last_ticket, 1, memory_order_relaxed);
  uint32_t mark = CLOSED | (ticket & TURN);
  int kept = errno, waited = 0, i;
  uint32_t now;
  while ((now = atomic_load_explicit(&served, memory_order_acquire)) !=
             ticket &&
         waited++ < FORK_WAITS)
    wait_for_change(&served, now);
  for (i = 0; i < PLACES; i++)
    inside[i] = atomic_fetch_or_explicit(&places[i].entered, mark,
                                         memory_order_acq_rel) &
                ~(uint32_t)FORK;
  for (i = 0; i < PLACES; i++)
    while ((now = atomic_load_explicit(&places[i].left,
                                       memory_order_acquire)) != inside[i] &&
           waited++ < FORK_WAITS)
      wait_for_change(&places[i].left, now);
  errno = kept;
}

static void after_fork_in_parent(void) {
  int kept = errno, i;
  for (i = 0; i < PLACES; i++) {
    atomic_fetch_and_explicit(&places[i].entered, ~(uint32_t)FORK,
                              memory_order_release);
    wake(&places[i].entered);
  }
  atomic_fetch_add_explicit(&served, 1, memory_order_release);
  wake(&served);
  errno = kept;
}

/* One thread is left, and it is in no call. */
static void after_fork_in_child(void) {
  int i;
  for (i = 0; i < PLACES; i++) {
    atomic_store_explicit(&places[i].entered, 0, memory_order_relaxed);
    atomic_store_explicit(&places[i].left, 0, memory_order_relaxed);
  }
  atomic_store_explicit(&last_ticket, 0, memory_order_relaxed);
  atomic_store_explicit(&served, 0, memory_order_relaxed);
}

__attribute__((constructor)) static void assay_gate_stand(void) {
  prepare_threads();
  (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
