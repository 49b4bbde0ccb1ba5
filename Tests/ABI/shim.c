/*
 * shim.c - calls only Sources/CLibCrypto/shim.h, over the libcrypto that the
 * program was compiled with.
 *
 *   shim < QUESTIONS
 *
 * A question is a line of words, with bytes in hex ("-": none):
 *
 *   digest NAME BYTES                   the digest, in hex
 *   ecdsa BITS POINT DIGEST SIGNATURE   1, 0, or "no key"
 *   rsa NAME MODULUS DIGEST SIGNATURE   1, 0, or "no key"
 *   private SCALAR POINT                1 or 0
 *   sign SCALAR DIGEST                  the public key and two DER signatures,
 *                                       or "no key"
 *   hmac KEY HEAD BODY                  HMAC with SHA-256 over head and body
 *   random                              1 or 0: two draws of 16 bytes differ
 *
 * The first output line is the version of libcrypto, followed by one line for
 * each question. libcrypto's queue has one error of the host: "disturbed" is
 * added to the output line after which the queue has another one.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 4096 };

struct octets {
  unsigned char bytes[LONGEST];
  size_t count;
};

static int digit(char c) {
  static const char digits[] = "0123456789abcdef";
  const char *found = c == '\0' ? NULL : strchr(digits, c);
  return found == NULL ? -1 : (int)(found - digits);
}

static void read_octets(const char *text, struct octets *out) {
  out->count = 0;
  if (text == NULL) exit(2);
  if (strcmp(text, "-") == 0) return;
  for (; *text != '\0'; text += 2) {
    int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
    if (low < 0 || out->count == LONGEST) exit(2);
    out->bytes[out->count++] = (unsigned char)(high << 4 | low);
  }
}

static const struct method {
  const char *name;
  int number;
  size_t count;
} methods[] = {{"sha1", ASSAY_SHA1, 20},
               {"sha256", ASSAY_SHA256, 32},
               {"sha384", ASSAY_SHA384, 48},
               {"sha512", ASSAY_SHA512, 64}};

static const struct method *method_of(const char *name) {
  size_t i;
  for (i = 0; i < sizeof methods / sizeof methods[0]; i++)
    if (name != NULL && strcmp(methods[i].name, name) == 0) return &methods[i];
  exit(2);
}

static struct assay_crypto *crypto;

static const char *yes_or_no(int good) { return good ? "1" : "0"; }

/* Checks a signature by a key and frees the key. */
static const char *ask_key(EVP_PKEY_CTX *key, int named, const struct octets *word) {
  int good;
  if (key == NULL) return "no key";
  good = assay_shim_verify(crypto, key, named, word[1].bytes, word[1].count,
                           word[2].bytes, word[2].count);
  EVP_PKEY_CTX_free(key);
  return yes_or_no(good == 1);
}

static EVP_PKEY *private_key(const struct octets *scalar, const struct octets *point,
                             unsigned char *half) {
  return assay_shim_private_key(crypto, scalar->bytes, scalar->count, point->bytes,
                                point->count, half);
}

static const char *ask_private(const struct octets *word) {
  unsigned char half[65];
  EVP_PKEY *key = private_key(&word[0], &word[1], half);
  EVP_PKEY_free(key);
  return yes_or_no(key != NULL);
}

static size_t write_hex(char *out, const unsigned char *octets, size_t count) {
  size_t i;
  for (i = 0; i < count; i++) snprintf(out + 2 * i, 3, "%02x", octets[i]);
  return 2 * count;
}

static const char *ask_sign(const struct octets *word) {
  static const struct octets no_point;
  static char said[2 * 65 + 2 * (1 + 2 * 72) + 1];
  unsigned char made[72];
  EVP_PKEY *key = private_key(&word[0], &no_point, made);
  size_t at, count;
  int i;
  if (key == NULL) return "no key";
  at = write_hex(said, made, 65);
  for (i = 0; i < 2; i++) {
    count = assay_shim_sign(crypto, key, word[1].bytes, made);
    said[at++] = ' ';
    at += write_hex(said + at, made, count);
  }
  said[at] = '\0';
  EVP_PKEY_free(key);
  return said;
}

static const char *ask_hmac(const struct octets *word) {
  static char said[65];
  unsigned char code[32];
  assay_shim_hmac(crypto, word[0].bytes, word[0].count, word[1].bytes, word[1].count,
                  word[2].bytes, word[2].count, code);
  write_hex(said, code, sizeof code);
  return said;
}

static const char *ask_random(void) {
  unsigned char one[16] = {0}, other[16] = {0};
  return yes_or_no(assay_system_random(one, sizeof one) &&
                   assay_system_random(other, sizeof other) &&
                   memcmp(one, other, sizeof one) != 0);
}

/* Returns the number of words with bytes that a question has. */
static int words_of(const char *kind) {
  if (strcmp(kind, "random") == 0) return 0;
  if (strcmp(kind, "digest") == 0) return 1;
  return strcmp(kind, "private") == 0 || strcmp(kind, "sign") == 0 ? 2 : 3;
}

static int has_name(const char *kind) {
  return strcmp(kind, "digest") == 0 || strcmp(kind, "ecdsa") == 0 ||
         strcmp(kind, "rsa") == 0;
}

static void answer(char *line) {
  static struct octets word[3];
  static char hex[129];
  const char *kind = strtok(line, " \n"), *name = NULL, *said = NULL;
  unsigned long host = ERR_peek_last_error();
  int i, count;
  if (kind == NULL) exit(2);
  if (has_name(kind)) name = strtok(NULL, " \n");
  count = words_of(kind);
  for (i = 0; i < count; i++) read_octets(strtok(NULL, " \n"), &word[i]);
  if (strcmp(kind, "digest") == 0) {
    const struct method *method = method_of(name);
    unsigned char digest[64];
    assay_shim_digest(crypto, method->number, word[0].bytes, word[0].count, digest);
    write_hex(hex, digest, method->count);
    said = hex;
  } else if (strcmp(kind, "ecdsa") == 0 && name != NULL) {
    said = ask_key(assay_shim_point(crypto, atoi(name) == 384 ? ASSAY_P384 : ASSAY_P256,
                                    word[0].bytes, word[0].count),
                   -1, word);
  } else if (strcmp(kind, "rsa") == 0) {
    said = ask_key(assay_shim_rsa(crypto, word[0].bytes, word[0].count, 65537),
                   method_of(name)->number, word);
  } else if (strcmp(kind, "private") == 0) {
    said = ask_private(word);
  } else if (strcmp(kind, "sign") == 0) {
    said = ask_sign(word);
  } else if (strcmp(kind, "hmac") == 0) {
    said = ask_hmac(word);
  } else if (strcmp(kind, "random") == 0) {
    said = ask_random();
  } else {
    exit(2);
  }
  printf("%s%s\n", said,
         ERR_peek_last_error() == host && ERR_peek_error() == host
             ? ""
             : " disturbed");
}

int main(void) {
  static char line[4 * 2 * LONGEST];
  crypto = assay_shim_open();
  if (crypto == NULL) return 2;
  puts(assay_shim_libcrypto());
  /* Puts the host's error into the queue: a curve that does not exist. */
  ERR_clear_error();
  if (EC_GROUP_new_by_curve_name(0) != NULL || ERR_peek_error() == 0) return 2;
  while (ERR_peek_error() != ERR_peek_last_error()) (void)ERR_get_error();
  while (fgets(line, sizeof line, stdin) != NULL) answer(line);
  return 0;
}
