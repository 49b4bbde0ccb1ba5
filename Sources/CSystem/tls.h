/* TLS for `assay mock-apple --tls`, by the libssl of this machine, which is asked for
 * only then: nothing is linked, and what is linked into the command line shares nothing
 * with it but files. */
#ifndef ASSAY_TLS_H
#define ASSAY_TLS_H

#include <dlfcn.h>

typedef struct {
  void *(*method)(void);
  void *(*context_new)(void *);
  int (*use_certificate)(void *, const char *);
  int (*use_key)(void *, const char *, int);
  void *(*session_new)(void *);
  int (*set_descriptor)(void *, int);
  int (*accept)(void *);
  int (*read)(void *, void *, int);
  int (*write)(void *, const void *, int);
  int (*shutdown)(void *);
  void (*free)(void *);
} system_tls;

/** 1: libssl was found. Functions of a library are data to dlsym: POSIX has them the
 * same size. */
static inline int system_tls_load(system_tls *out) {
  void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  const char *names[] = {"TLS_server_method", "SSL_CTX_new",
                         "SSL_CTX_use_certificate_chain_file", "SSL_CTX_use_PrivateKey_file",
                         "SSL_new", "SSL_set_fd", "SSL_accept", "SSL_read", "SSL_write",
                         "SSL_shutdown", "SSL_free"};
  void **places = (void **)out;
  size_t place;
  if (library == NULL) return 0;
  for (place = 0; place < sizeof names / sizeof *names; place++) {
    places[place] = dlsym(library, names[place]);
    if (places[place] == NULL) return 0;
  }
  return 1;
}

/** A context of PEM files, or NULL. */
static inline void *system_tls_context(const system_tls *tls, const char *certificate,
                                       const char *key) {
  void *context = tls->context_new(tls->method());
  if (context == NULL || tls->use_certificate(context, certificate) != 1 ||
      tls->use_key(context, key, 1) != 1)
    return NULL;
  return context;
}

/** A session on that connection after its handshake, or NULL. */
static inline void *system_tls_accept(const system_tls *tls, void *context, int descriptor) {
  void *session = tls->session_new(context);
  if (session == NULL) return NULL;
  if (tls->set_descriptor(session, descriptor) == 1 && tls->accept(session) == 1)
    return session;
  tls->free(session);
  return NULL;
}

static inline int system_tls_read(const system_tls *tls, void *session, void *bytes, int count) {
  return tls->read(session, bytes, count);
}
static inline int system_tls_write(const system_tls *tls, void *session, const void *bytes,
                                   int count) {
  return tls->write(session, bytes, count);
}
static inline void system_tls_end(const system_tls *tls, void *session) {
  tls->shutdown(session);
  tls->free(session);
}

#endif
