/*
 * sealed.c - the system calls that the library must not make; here they fail.
 *
 * The Swift runtime and libcrypto, where they are linked into the library,
 * contain code that opens files, reads the environment, installs signal
 * handlers, starts programs and connects: at load (SWIFT_BACKTRACE,
 * /proc/self/maps, OPENSSL_ia32cap) and on paths that Assay has no use for. A
 * library inside another's process must do nothing of the kind. The linker
 * routes each such call here (--wrap, see the Makefile), where the call fails as
 * on a system without the function. Tests/Gates/library.py checks what the
 * library still imports, Tests/Gates/guest.py what it does.
 */
#include <errno.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* The environment is empty. */
static char *nothing[] = {NULL};
HIDDEN char **__wrap_environ = nothing;

/* Functions that fail by returning NULL, or a number that means failure. They read no
 * arguments, so none are declared. */
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
