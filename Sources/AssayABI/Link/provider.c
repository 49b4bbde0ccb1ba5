/*
 * provider.c - what libcrypto's own code asks its default provider for.
 *
 * OpenSSL 3 keeps every algorithm that it offers by name in one table, that of the
 * default provider: with the table some 500 KB of ciphers, key exchanges and
 * encoders are linked, none of which Assay asks for. It calls digests and keys by their
 * functions (Sources/CLibCrypto). By name libcrypto itself looks up two things: its
 * random numbers, which blind numbers on their way and make the nonce of a signature,
 * and SHA-512, which goes into that nonce. So the provider "default" that is linked
 * into the library offers these alone: libcrypto's SHA-512, and under the name of its
 * generator the system's random numbers, each time anew (EXC-23). libcrypto's own
 * generator would be seeded once and know a fork by the process id. Everything else is
 * unknown to it, and a look-up fails as for any unknown name.
 *
 * The linker routes libcrypto's reference here (--wrap, see the Makefile), where it is
 * Debian's OpenSSL 3. The table of SHA-512 is libcrypto's internal one: if it is gone,
 * the link fails, and Tests/Gates/library.py sees when the whole provider is
 * linked again, because its name has changed.
 */
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/params.h>
#include <stddef.h>

#include "../../CLibCrypto/random.h"

/* The minor versions that were tried: docs/building.md, OpenSSL. */
#if OPENSSL_VERSION_MAJOR != 3 || OPENSSL_VERSION_MINOR != 0
#error "tried with OpenSSL 3.0 alone (docs/building.md, OpenSSL): make CRYPTO=shared"
#endif

extern const OSSL_DISPATCH ossl_sha512_functions[];

#define FUNCTION(id, name) {OSSL_FUNC_##id, (void (*)(void))name}

/* ---- random numbers: there is nothing to keep, seed or lock ----------------- */

static void *begin(void *own, void *parent, const OSSL_DISPATCH *calls) {
  static char source;
  (void)own, (void)parent, (void)calls;
  return &source;
}
static void end(void *source) { (void)source; }

static int instantiate(void *source, unsigned strength, int resistance,
                       const unsigned char *text, size_t length,
                       const OSSL_PARAM settings[]) {
  (void)source, (void)strength, (void)resistance, (void)text, (void)length, (void)settings;
  return 1;
}
static int uninstantiate(void *source) {
  (void)source;
  return 1;
}

static int generate(void *source, unsigned char *out, size_t length, unsigned strength,
                    int resistance, const unsigned char *text, size_t text_length) {
  (void)source, (void)strength, (void)resistance, (void)text, (void)text_length;
  return assay_system_random(out, length);
}

static int yes(void *source) {
  (void)source;
  return 1;
}

/* What libcrypto asks for before it generates, and what says that it may. */
static int describe(void *source, OSSL_PARAM settings[]) {
  OSSL_PARAM *state = OSSL_PARAM_locate(settings, OSSL_RAND_PARAM_STATE);
  OSSL_PARAM *strength = OSSL_PARAM_locate(settings, OSSL_RAND_PARAM_STRENGTH);
  OSSL_PARAM *most = OSSL_PARAM_locate(settings, OSSL_RAND_PARAM_MAX_REQUEST);
  (void)source;
  return (state == NULL || OSSL_PARAM_set_int(state, EVP_RAND_STATE_READY)) &&
         (strength == NULL || OSSL_PARAM_set_uint(strength, 256)) &&
         (most == NULL || OSSL_PARAM_set_size_t(most, 65536));
}

static const OSSL_DISPATCH system_functions[] = {FUNCTION(RAND_NEWCTX, begin),
                                                 FUNCTION(RAND_FREECTX, end),
                                                 FUNCTION(RAND_INSTANTIATE, instantiate),
                                                 FUNCTION(RAND_UNINSTANTIATE, uninstantiate),
                                                 FUNCTION(RAND_GENERATE, generate),
                                                 FUNCTION(RAND_ENABLE_LOCKING, yes),
                                                 FUNCTION(RAND_LOCK, yes),
                                                 FUNCTION(RAND_UNLOCK, end),
                                                 FUNCTION(RAND_GET_CTX_PARAMS, describe),
                                                 {0, NULL}};

/* ---- the provider ----------------------------------------------------------- */

#define OFFER(names, functions) {names, "provider=default", functions, NULL}
#define END_OF_OFFERS {NULL, NULL, NULL, NULL}

static const OSSL_ALGORITHM digests[] = {
    OFFER("SHA2-512:SHA-512:SHA512:2.16.840.1.101.3.4.2.3",
          ossl_sha512_functions),
    END_OF_OFFERS};
/* The name under which libcrypto looks for its generator. */
static const OSSL_ALGORITHM sources[] = {OFFER("CTR-DRBG", system_functions),
                                         END_OF_OFFERS};

static const OSSL_ALGORITHM *query(void *own, int operation, int *no_cache) {
  (void)own;
  *no_cache = 0;
  switch (operation) {
    case OSSL_OP_DIGEST: return digests;
    case OSSL_OP_RAND: return sources;
    default: return NULL;
  }
}

static const OSSL_DISPATCH functions[] = {FUNCTION(PROVIDER_QUERY_OPERATION, query),
                                          {0, NULL}};

__attribute__((visibility("hidden"))) OSSL_provider_init_fn
    __wrap_ossl_default_provider_init;

int __wrap_ossl_default_provider_init(const OSSL_CORE_HANDLE *handle,
                                      const OSSL_DISPATCH *core,
                                      const OSSL_DISPATCH **out, void **own) {
  (void)core;
  *out = functions;
  *own = (void *)(size_t)handle;
  return 1;
}
