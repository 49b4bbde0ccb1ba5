/*
 * offered.c - what the libcrypto inside the library can still do, and that the rest
 * fails as something unknown does (Sources/AssayABI/Link/provider.c, absent.c).
 *
 *   offered SUITE
 *
 * Linked like the library: with the two files and the same --wrap.
 */
#include "shim.h"

#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int passed, failed;
static OSSL_LIB_CTX *context;

static void expect(int met, const char *what) {
  if (met) {
    passed++;
  } else {
    failed++;
    printf("FAILED offered: %s\n", what);
  }
}

/* Random numbers come by libcrypto's calls, in a forked child others than in its parent. */
static void check_random(void) {
  unsigned char own[32], next[32], theirs[32];
  int ends[2], status = 1;
  pid_t child;
  expect(RAND_priv_bytes_ex(context, own, sizeof own, 256) == 1 &&
             RAND_bytes_ex(context, next, sizeof next, 256) == 1 &&
             RAND_bytes(theirs, sizeof theirs) == 1,
         "random numbers");
  expect(memcmp(own, next, sizeof own) != 0, "never the same");
  if (pipe(ends) != 0) exit(2);
  child = fork();
  if (child == 0) {
    int good = RAND_priv_bytes_ex(context, theirs, sizeof theirs, 256) == 1 &&
               write(ends[1], theirs, sizeof theirs) == (ssize_t)sizeof theirs;
    _exit(!good);
  }
  expect(child > 0 && waitpid(child, &status, 0) == child && status == 0 &&
             read(ends[0], theirs, sizeof theirs) == (ssize_t)sizeof theirs,
         "random numbers in a child");
  expect(RAND_priv_bytes_ex(context, own, sizeof own, 256) == 1 &&
             memcmp(own, theirs, sizeof own) != 0,
         "a child's are its own");
}

static void check_signing(int curve) {
  static const unsigned char digest[32] = {1, 2, 3}, other[32] = {1, 2, 4};
  EC_GROUP *group = assay_shim_curve(context, curve);
  EC_KEY *key = EC_KEY_new_method(assay_shim_engine());
  ECDSA_SIG *one = NULL, *two = NULL;
  expect(group != NULL && key != NULL && EC_KEY_set_group(key, group) == 1 &&
             EC_KEY_generate_key(key) == 1,
         "a key");
  one = ECDSA_do_sign(digest, sizeof digest, key);
  two = ECDSA_do_sign(digest, sizeof digest, key);
  expect(one != NULL && two != NULL, "signatures");
  if (one != NULL && two != NULL) {
    expect(ECDSA_do_verify(digest, sizeof digest, one, key) == 1 &&
               ECDSA_do_verify(digest, sizeof digest, two, key) == 1,
           "they verify");
    expect(ECDSA_do_verify(other, sizeof other, one, key) == 0,
           "not over another digest");
    expect(BN_cmp(ECDSA_SIG_get0_r(one), ECDSA_SIG_get0_r(two)) != 0,
           "each has a nonce of its own");
  }
  ECDSA_SIG_free(one);
  ECDSA_SIG_free(two);
  EC_KEY_free(key);
  EC_GROUP_free(group);
}

static void check_digest(void) {
  static const unsigned char text[] = "abc";
  unsigned char own[64], theirs[64];
  EVP_MD *method = EVP_MD_fetch(context, "SHA512", NULL);
  unsigned count = 0;
  assay_shim_sha512(text, 3, own);
  expect(method != NULL &&
             EVP_Digest(text, 3, theirs, &count, method, NULL) == 1 &&
             count == sizeof own && memcmp(own, theirs, sizeof own) == 0,
         "SHA-512 by name");
  EVP_MD_free(method);
}

static void check_absent(void) {
  static const int curves[] = {NID_secp224r1, NID_secp521r1, NID_sect163k1};
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
  size_t i;
  for (i = 0; i < sizeof curves / sizeof curves[0]; i++)
    expect(assay_shim_curve(context, curves[i]) == NULL, "no other curve");
  expect(EVP_MD_fetch(context, "MD5", NULL) == NULL, "no other digest");
  expect(EVP_CIPHER_fetch(context, "AES-128-GCM", NULL) == NULL,
         "no other cipher");
  expect(EVP_get_cipherbyname("AES-128-CBC") == NULL, "no table of ciphers");
  expect(EVP_KDF_fetch(context, "HKDF", NULL) == NULL, "no key derivation");
  expect(OSSL_PROVIDER_load(context, "base") == NULL, "no base provider");
  expect(maker == NULL || EVP_PKEY_keygen_init(maker) != 1 ||
             EVP_PKEY_keygen(maker, &key) != 1,
         "no key of X25519");
  EVP_PKEY_CTX_free(maker);
}

int main(int argc, char **argv) {
  context = assay_shim_context();
  if (argc < 2 || context == NULL) return 2;
  check_random();
  check_signing(NID_X9_62_prime256v1);
  check_signing(NID_secp384r1);
  check_digest();
  check_absent();
  printf("suite %s: %d passed, %d failed, 0 skipped\n", argv[1], passed,
         failed);
  return failed != 0;
}
