/*
 * shim.c - asks Sources/CLibCrypto/shim.h alone, over whichever libcrypto this was
 * compiled with.
 *
 *   shim < QUESTIONS
 *
 * A question is a line of words, octets as hex ("-": none):
 *
 *   digest NAME OCTETS                  the digest, as hex
 *   ecdsa BITS POINT DIGEST SIGNATURE   1, 0, or "no key"
 *   rsa NAME MODULUS DIGEST SIGNATURE   1, 0, or "no key"
 *   private SCALAR POINT                1 or 0
 *   sign SCALAR DIGEST                  the public half and the DER signature, twice
 *                                       signed, or "no key"
 *   hmac KEY HEAD BODY                  HMAC with SHA-256 over head and body
 *   random                              1 or 0: two times 16 octets differ
 *
 * The first line of the answers is what libcrypto calls itself, then one line for
 * each question. One error of the host is in libcrypto's queue: "disturbed" is
 * added to the answer after which there is another one.
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
  void (*make)(const unsigned char *, size_t, unsigned char *);
} methods[] = {{"sha1", NID_sha1, 20, assay_shim_sha1},
               {"sha256", NID_sha256, 32, assay_shim_sha256},
               {"sha384", NID_sha384, 48, assay_shim_sha384},
               {"sha512", NID_sha512, 64, assay_shim_sha512}};

static const struct method *method_of(const char *name) {
  size_t i;
  for (i = 0; i < sizeof methods / sizeof methods[0]; i++)
    if (name != NULL && strcmp(methods[i].name, name) == 0) return &methods[i];
  exit(2);
}

static OSSL_LIB_CTX *context;
static ENGINE *engine;
static EC_GROUP *curves[2];

static const char *yes_or_no(int good) { return good ? "1" : "0"; }

static const char *ask_ecdsa(int bits, const struct octets *word) {
  EC_KEY *key = assay_shim_point(context, engine, curves[bits == 384],
                                 word[0].bytes, word[0].count);
  int good;
  if (key == NULL) return "no key";
  good = assay_shim_verify(context, key, word[1].bytes, word[1].count,
                           word[2].bytes, word[2].count);
  EC_KEY_free(key);
  return yes_or_no(good == 1);
}

static const char *ask_rsa(int number, const struct octets *word) {
  RSA *key = assay_shim_rsa(engine, word[0].bytes, word[0].count, 65537);
  int good;
  if (key == NULL) return "no key";
  good = assay_shim_rsa_verify(key, number, word[1].bytes, word[1].count,
                               word[2].bytes, word[2].count);
  RSA_free(key);
  return yes_or_no(good == 1);
}

static EC_KEY *private_key(const struct octets *scalar, const struct octets *point) {
  return assay_shim_private_key(context, engine, scalar->bytes, scalar->count,
                                point->bytes, point->count);
}

static const char *ask_private(const struct octets *word) {
  EC_KEY *key = private_key(&word[0], &word[1]);
  EC_KEY_free(key);
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
  EC_KEY *key = private_key(&word[0], &no_point);
  size_t at, count;
  int i;
  if (key == NULL) return "no key";
  count = assay_shim_public_half(context, key, made);
  at = write_hex(said, made, count);
  for (i = 0; i < 2; i++) {
    count = assay_shim_sign(context, key, word[1].bytes, made);
    said[at++] = ' ';
    at += write_hex(said + at, made, count);
  }
  said[at] = '\0';
  EC_KEY_free(key);
  return said;
}

static const char *ask_hmac(const struct octets *word) {
  static char said[65];
  unsigned char code[32];
  assay_shim_hmac(word[0].bytes, word[0].count, word[1].bytes, word[1].count,
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

/* How many words of octets a question has. */
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
    method->make(word[0].bytes, word[0].count, digest);
    write_hex(hex, digest, method->count);
    said = hex;
  } else if (strcmp(kind, "ecdsa") == 0 && name != NULL) {
    said = ask_ecdsa(atoi(name), word);
  } else if (strcmp(kind, "rsa") == 0) {
    said = ask_rsa(method_of(name)->number, word);
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
  context = assay_shim_context();
  engine = assay_shim_engine();
  curves[0] = assay_shim_curve(context, NID_X9_62_prime256v1);
  curves[1] = assay_shim_curve(context, NID_secp384r1);
  if (context == NULL || curves[0] == NULL || curves[1] == NULL) return 2;
  puts(assay_shim_libcrypto());
  /* The host's error: a curve that does not exist. */
  ERR_clear_error();
  if (EC_GROUP_new_by_curve_name(0) != NULL || ERR_peek_error() == 0) return 2;
  while (ERR_peek_error() != ERR_peek_last_error()) (void)ERR_get_error();
  while (fgets(line, sizeof line, stdin) != NULL) answer(line);
  return 0;
}
