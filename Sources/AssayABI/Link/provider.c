/*
 * provider.c - what libcrypto's own code asks its default provider for.
 *
 * OpenSSL 3 keeps every algorithm that it offers by name in one table, that of the
 * default provider: with the table some 500 KB of ciphers, key exchanges and
 * encoders are linked, none of which Assay asks for. It calls digests and keys by their
 * functions (Sources/CLibCrypto). By name libcrypto itself looks up two things: its
 * random numbers, which blind numbers on their way and make the nonce of a signature,
 * and SHA-512, which goes into that nonce. So the provider "default" that is linked
 * into the library offers these alone, as libcrypto's own offers them: the same
 * functions under the same names, its DRBG included. Everything else is unknown to it,
 * and a look-up fails as for any unknown name.
 *
 * The linker routes libcrypto's reference here (--wrap, see the Makefile), where it is
 * Debian's OpenSSL 3. The declarations below are libcrypto's internal ones: one that
 * is gone fails the link, and Tests/Gates/library.py sees when the whole provider is
 * linked again, because its name has changed.
 */
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/opensslv.h>
#include <openssl/types.h>
#include <stddef.h>

#if OPENSSL_VERSION_MAJOR != 3
#error "made for OpenSSL 3: leave it out (DISCARDED in the Makefile)"
#endif

typedef struct prov_ctx_st PROV_CTX;
PROV_CTX *ossl_prov_ctx_new(void);
void ossl_prov_ctx_free(PROV_CTX *own);
void ossl_prov_ctx_set0_libctx(PROV_CTX *own, OSSL_LIB_CTX *library);
void ossl_prov_ctx_set0_handle(PROV_CTX *own, const OSSL_CORE_HANDLE *handle);
int ossl_prov_seeding_from_dispatch(const OSSL_DISPATCH *core);
extern const OSSL_DISPATCH ossl_sha512_functions[];
extern const OSSL_DISPATCH ossl_aes256ctr_functions[];
extern const OSSL_DISPATCH ossl_aes256ecb_functions[];
extern const OSSL_DISPATCH ossl_drbg_ctr_functions[];
extern const OSSL_DISPATCH ossl_seed_src_functions[];

#define OFFER(names, functions) {names, "provider=default", functions, NULL}
#define END_OF_OFFERS {NULL, NULL, NULL, NULL}

static const OSSL_ALGORITHM digests[] = {
    OFFER("SHA2-512:SHA-512:SHA512:2.16.840.1.101.3.4.2.3",
          ossl_sha512_functions),
    END_OF_OFFERS};
/* What the DRBG is made of. */
static const OSSL_ALGORITHM ciphers[] = {
    OFFER("AES-256-CTR", ossl_aes256ctr_functions),
    OFFER("AES-256-ECB:2.16.840.1.101.3.4.1.41", ossl_aes256ecb_functions),
    END_OF_OFFERS};
static const OSSL_ALGORITHM sources[] = {
    OFFER("CTR-DRBG", ossl_drbg_ctr_functions),
    OFFER("SEED-SRC", ossl_seed_src_functions),
    END_OF_OFFERS};

static const OSSL_ALGORITHM *query(void *own, int operation, int *no_cache) {
  (void)own;
  *no_cache = 0;
  switch (operation) {
    case OSSL_OP_DIGEST: return digests;
    case OSSL_OP_CIPHER: return ciphers;
    case OSSL_OP_RAND: return sources;
    default: return NULL;
  }
}

static void teardown(void *own) { ossl_prov_ctx_free(own); }

static const OSSL_DISPATCH functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {0, NULL}};

__attribute__((visibility("hidden"))) OSSL_provider_init_fn
    __wrap_ossl_default_provider_init;

int __wrap_ossl_default_provider_init(const OSSL_CORE_HANDLE *handle,
                                      const OSSL_DISPATCH *core,
                                      const OSSL_DISPATCH **out, void **own) {
  OSSL_FUNC_core_get_libctx_fn *library = NULL;
  const OSSL_DISPATCH *entry;
  PROV_CTX *made;
  for (entry = core; entry->function_id != 0; entry++)
    if (entry->function_id == OSSL_FUNC_CORE_GET_LIBCTX)
      library = OSSL_FUNC_core_get_libctx(entry);
  if (library == NULL || !ossl_prov_seeding_from_dispatch(core) ||
      (made = ossl_prov_ctx_new()) == NULL)
    return 0;
  /* It looks things up where those who call it do. */
  ossl_prov_ctx_set0_libctx(made, (OSSL_LIB_CTX *)library(handle));
  ossl_prov_ctx_set0_handle(made, handle);
  *out = functions;
  *own = made;
  return 1;
}
