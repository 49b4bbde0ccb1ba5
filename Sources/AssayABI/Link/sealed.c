/*
 * sealed.c - what the library asks the system for: none of this.
 *
 * The Swift runtime and libcrypto, where they are linked into the library, hold
 * code that opens files, reads the environment, installs signal handlers,
 * starts programs and connects: at load (SWIFT_BACKTRACE, /proc/self/maps,
 * OPENSSL_ia32cap) and on paths that Assay has no use for. A guest does nothing
 * of the kind. The linker routes each such call here (--wrap, see the Makefile),
 * where it fails as on a system that has no such thing; a gate checks what the
 * library still imports (Tests/Gates/library.py), another at what it does
 * (Tests/Gates/guest.py).
 */
#include <errno.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The environment is empty. */
static char *nothing[] = {NULL};
HIDDEN char **__wrap_environ = nothing;

/* What is not available: a pointer that is NULL, a number that says so. No arguments
 * are looked at, so none are declared. */
#define NO_POINTER(name)            \
  HIDDEN void *__wrap_##name(void); \
  void *__wrap_##name(void) {       \
    errno = ENOSYS;                 \
    return NULL;                    \
  }
#define NUMBER(name, value)       \
  HIDDEN int __wrap_##name(void); \
  int __wrap_##name(void) {       \
    errno = ENOSYS;               \
    return value;                 \
  }
#define NO_NUMBER(name) NUMBER(name, -1)

/* environment */
NO_POINTER(getenv)
NO_POINTER(secure_getenv)
/* files */
NO_POINTER(fopen)
NO_POINTER(fopen64)
NO_POINTER(opendir)
NO_NUMBER(open)
NO_NUMBER(open64)
NO_NUMBER(stat)
NO_NUMBER(readlink)
NUMBER(isatty, 0)
/* libraries and programs */
NO_POINTER(dlopen)
NO_NUMBER(clone)
NO_NUMBER(execvpe)
/* signals: SIG_ERR is -1 */
NO_NUMBER(sigaction)
NO_NUMBER(sigaltstack)
HIDDEN void (*__wrap_signal(void))(int);
void (*__wrap_signal(void))(int) { return (void (*)(int))(ptrdiff_t)-1; }
/* network */
NO_NUMBER(socket)
NO_NUMBER(socketpair)
NO_NUMBER(connect)
NO_NUMBER(bind)
NO_NUMBER(getaddrinfo)
NO_POINTER(gethostbyname)
