/*
 * absent.c - parts of libcrypto that are left out of the library.
 *
 * libcrypto refers to them from code that is linked, and no call to Assay reaches
 * them; with them a third of the library would be theirs. The linker routes each of
 * these names here (--wrap, see the Makefile, which reads them from this file), where a
 * call does nothing and returns 0 or NULL: as these functions do when they fail,
 * and as if there were no such algorithm, engine or format. Where a new
 * call of Assay's needs one, take its line away. A name that libcrypto no longer
 * has does no harm, but what it stood for is linked again: Tests/Gates/library.py
 * holds each name against the archive, and the linker's report.
 */
#include <stddef.h>

/* One for all: whatever is declared as their result, 0 is returned where it is. No
 * arguments are looked at, so none are declared. */
#define ABSENT(name)                                                      \
  __attribute__((visibility("hidden"))) void *__wrap_##name(void);        \
  void *__wrap_##name(void) { return NULL; }

/* Tables by name of the time before providers, and the texts of errors. Assay
 * initialises libcrypto without them: these functions would fill them. */
ABSENT(openssl_add_all_ciphers_int)
ABSENT(openssl_add_all_digests_int)
ABSENT(ossl_err_load_crypto_strings)

/* The provider of encoders, which only its name would load. */
ABSENT(ossl_base_provider_init)

/* Engines that are part of libcrypto. Nobody asks for one. */
ABSENT(engine_load_afalg_int)
ABSENT(engine_load_dynamic_int)
ABSENT(engine_load_openssl_int)
ABSENT(engine_load_padlock_int)
ABSENT(engine_load_rdrand_int)

/* Curves other than P-256 and P-384, and P-256 without its own assembler code. */
ABSENT(EC_GF2m_simple_method)
ABSENT(EC_GFp_nistp224_method)
ABSENT(EC_GFp_nistp521_method)
ABSENT(EC_nistp224_pre_comp_dup)
ABSENT(EC_nistp224_pre_comp_free)
ABSENT(EC_nistp256_pre_comp_dup)
ABSENT(EC_nistp256_pre_comp_free)
ABSENT(EC_nistp521_pre_comp_dup)
ABSENT(EC_nistp521_pre_comp_free)
ABSENT(ossl_ec_GF2m_simple_oct2point)
ABSENT(ossl_ec_GF2m_simple_point2oct)
ABSENT(ossl_ec_GF2m_simple_set_compressed_coordinates)
ABSENT(ossl_ed25519_public_from_private)
ABSENT(ossl_ed25519_sign)
ABSENT(ossl_ed25519_verify)
ABSENT(ossl_ed448_public_from_private)
ABSENT(ossl_ed448_sign)
ABSENT(ossl_ed448_verify)
ABSENT(ossl_x25519)
ABSENT(ossl_x25519_public_from_private)
ABSENT(ossl_x448)
ABSENT(ossl_x448_public_from_private)

/* Certificates and lists as libcrypto reads them: Assay has readers of its own. */
ABSENT(X509_CRL_digest)
ABSENT(X509_CRL_sign)
ABSENT(X509_REQ_sign)
ABSENT(X509_digest)
ABSENT(X509_signature_dump)
ABSENT(X509_verify)

/* Passwords, and asking for them at a terminal; a client of HTTP. */
ABSENT(EVP_PBE_cleanup)
ABSENT(EVP_PBE_find)
ABSENT(EVP_PBE_find_ex)
ABSENT(OSSL_HTTP_get)
ABSENT(UI_UTIL_wrap_read_pem_callback)
