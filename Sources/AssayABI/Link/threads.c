/*
 * threads.c - what libcrypto does at the end of a thread passes the gate as well.
 *
 * It keeps something of every thread that called it, in a list under a lock, and
 * removes it when the thread ends: outside of any call to Assay. A fork at that
 * moment would leave the child a lock with no holder. So each destructor of a
 * thread's value that code in the library registers (the linker routes
 * pthread_key_create here, see the Makefile) is called between the two ends of the
 * gate (Sources/CGate), for which fork waits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "gate.h"

typedef void (*destructor)(void *);

/* A destructor is given only the value: so there is one function for each. libcrypto
 * registers one or two. */
enum { PLACES = 8 };
static _Atomic(destructor) destructors[PLACES];

static void end(int place, void *value) {
  uint32_t entered = assay_gate_enter();
  atomic_load(&destructors[place])(value);
  assay_gate_leave(entered);
}

#define END(place) \
  static void end_##place(void *value) { end(place, value); }
END(0) END(1) END(2) END(3) END(4) END(5) END(6) END(7)
static const destructor ends[PLACES] = {end_0, end_1, end_2, end_3,
                                        end_4, end_5, end_6, end_7};

int __real_pthread_key_create(pthread_key_t *key, destructor given);
__attribute__((visibility("hidden"))) int __wrap_pthread_key_create(
    pthread_key_t *key, destructor given);

int __wrap_pthread_key_create(pthread_key_t *key, destructor given) {
  int place;
  if (given == NULL) return __real_pthread_key_create(key, NULL);
  for (place = 0; place < PLACES; place++) {
    destructor there = NULL;
    if (atomic_compare_exchange_strong(&destructors[place], &there, given) ||
        there == given)
      return __real_pthread_key_create(key, ends[place]);
  }
  return EAGAIN;
}
