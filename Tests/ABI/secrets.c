/*
 * secrets.c - checks that configured secrets leave nothing in memory (EXC-10).
 *
 *   secrets [SUITE]
 *
 * Searches all writable memory of the process, heap, stacks and the library's
 * own, for a private key, a shared secret and a session secret in every form in
 * which they pass through the library: as text, as bytes, and as libcrypto's
 * numbers. The secrets are in an accepted configuration, and in several that
 * are refused at different positions. Further secrets are a device token in a
 * request, and tokens that the key signs. The host wipes its own copies, so
 * that every copy found was left by the library.
 */
#include <assay.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01 */

enum { MASK = 0xa5, LONGEST = 32, CHUNK = 1 << 16, TOKEN = 300, SESSION = 48 };

static void expect(int met, const char *what, const char *detail) {
  expect_that(met, "%s: %s", what, detail);
}

/* Wipes like explicit_bzero, which C99 programs cannot see. */
static void wipe(void *bytes, size_t length) {
  volatile unsigned char *at = bytes;
  while (length-- > 0) *at++ = 0;
}

/* ---- the secrets, never stored whole ------------------------------------- */

static unsigned char scalar_byte(int i) {
  return (unsigned char)(i == 0 ? 0x31 : i * 73 + 29);
}
static unsigned char shared_byte(int i) {
  return (unsigned char)(i * 57 + 131);
}
static unsigned char session_byte(int i) {
  return (unsigned char)(i * 91 + 47 + i / 5);
}
static unsigned char token_byte(int i) {
  return (unsigned char)(i * 149 + 83 + i / 7);
}

/* Returns a byte of PKCS#8 with an ECPrivateKey on P-256 without its public
 * key. */
static unsigned char key_file_byte(int i) {
  static const unsigned char head[] = {
      0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48,
      0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
      0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20};
  return i < (int)sizeof head ? head[i] : scalar_byte(i - (int)sizeof head);
}
enum { KEY_FILE = 35 + 32 };

/* Returns the base64 digit at an index of a text of this many bytes. */
static char base64_digit(unsigned char (*byte)(int), int count, int place) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int group = place / 4 * 3, i;
  unsigned bits = 0;
  if (place % 4 > count - group) return '=';
  for (i = 0; i < 3; i++)
    bits = bits << 8 | (group + i < count ? byte(group + i) : 0u);
  return digits[bits >> (18 - 6 * (place % 4)) & 63];
}
static int base64_length(int count) { return (count + 2) / 3 * 4; }

struct needle {
  const char *name;
  size_t length;
  unsigned char masked[LONGEST];
};
static struct needle needles[12];
static int needle_count;
/* The end of the text that was signed last. */
static struct needle *made;

static struct needle *add_needle(const char *name, size_t length) {
  needles[needle_count].name = name;
  needles[needle_count].length = length;
  return &needles[needle_count++];
}

static void make_needles(void) {
  static const char hex[] = "0123456789abcdef";
  struct needle *first = add_needle("key, first half", 16);
  struct needle *second = add_needle("key, second half", 16);
  struct needle *number = add_needle("key, as a number", 16);
  struct needle *text = add_needle("key, as base64", 24);
  struct needle *shared = add_needle("shared secret", 16);
  struct needle *digits = add_needle("shared secret, as hex", 32);
  struct needle *token = add_needle("token", 32);
  struct needle *token_text = add_needle("token, as base64", 32);
  struct needle *session = add_needle("session secret", 16);
  struct needle *session_text = add_needle("session secret, as base64", 24);
  int i;
  made = add_needle("signed", 0);
  for (i = 0; i < 16; i++) {
    first->masked[i] = scalar_byte(i) ^ MASK;
    second->masked[i] = scalar_byte(16 + i) ^ MASK;
    number->masked[i] = scalar_byte(31 - i) ^ MASK;
    shared->masked[i] = shared_byte(i) ^ MASK;
    session->masked[i] = session_byte(16 + i) ^ MASK;
    digits->masked[2 * i] = (unsigned char)hex[shared_byte(i) >> 4] ^ MASK;
    digits->masked[2 * i + 1] = (unsigned char)hex[shared_byte(i) & 15] ^ MASK;
  }
  for (i = 0; i < 24; i++)
    text->masked[i] =
        (unsigned char)base64_digit(key_file_byte, KEY_FILE, 64 + i) ^ MASK;
  for (i = 0; i < 24; i++)
    session_text->masked[i] =
        (unsigned char)base64_digit(session_byte, SESSION, 24 + i) ^ MASK;
  for (i = 0; i < 32; i++) {
    token->masked[i] = token_byte(100 + i) ^ MASK;
    token_text->masked[i] =
        (unsigned char)base64_digit(token_byte, TOKEN, 200 + i) ^ MASK;
  }
}

/* ---- searching memory ---------------------------------------------------- */

static unsigned char window[CHUNK + LONGEST];

static int stands_at(const struct needle *needle, const unsigned char *at) {
  size_t i;
  for (i = 0; i < needle->length; i++)
    if ((at[i] ^ MASK) != needle->masked[i]) return 0;
  return 1;
}

/* Searches one mapping; adds the names of secrets that it contains to
 * `found`. */
static void look_through(int memory, unsigned long from, unsigned long to,
                         int *found) {
  unsigned long at;
  for (at = from; at < to; at += CHUNK) {
    size_t wanted = to - at < sizeof window ? to - at : sizeof window;
    ssize_t got;
    size_t i;
    int k;
    wipe(window, sizeof window);
    got = pread(memory, window, wanted, (off_t)at);
    for (i = 0; got > 0 && i < (size_t)got && i < CHUNK; i++) {
      unsigned long place = at + i;
      if (place >= (unsigned long)window &&
          place < (unsigned long)window + sizeof window)
        continue;
      for (k = 0; k < needle_count; k++)
        if (needles[k].length > 0 && i + needles[k].length <= (size_t)got &&
            (window[i] ^ MASK) == needles[k].masked[0] &&
            stands_at(&needles[k], window + i))
          found[k]++;
    }
  }
  wipe(window, sizeof window);
}

/* Returns how many kinds of secrets are in memory; writes their names to
 * `names`. */
static int look(char *names, size_t size) {
  FILE *maps = fopen("/proc/self/maps", "r");
  int memory = open("/proc/self/mem", O_RDONLY), kinds = 0, k;
  int found[12] = {0};
  char line[512];
  names[0] = '\0';
  if (maps == NULL || memory < 0) exit(2);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long from, to;
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 &&
        rights[0] == 'r' && rights[1] == 'w')
      look_through(memory, from, to, found);
  }
  fclose(maps);
  close(memory);
  for (k = 0; k < needle_count; k++)
    if (found[k] > 0) {
      size_t used = strlen(names);
      kinds++;
      snprintf(names + used, size - used, "%s%s (%d)", used ? ", " : "",
               needles[k].name, found[k]);
    }
  return kinds;
}

/* ---- configurations and requests ----------------------------------------- */

static char text[8192];
static size_t text_length;

static void put(const char *more) {
  size_t length = strlen(more);
  memcpy(text + text_length, more, length);
  text_length += length;
}

static void put_base64(unsigned char (*byte)(int), int count, int broken) {
  int i, length = base64_length(count);
  for (i = 0; i < length; i++) {
    if (i == 64 && byte == key_file_byte) put("\\n");
    text[text_length++] =
        broken && i == length - 4 ? '!' : base64_digit(byte, count, i);
  }
}

/* The faults of a configuration, each after the secrets were read or in the
 * middle of one. */
enum fault { NONE, KEY_BROKEN, KEY_OF_JUNK, SHARED_BROKEN, CHOICE, LATER, SYNTAX, FAULTS };
static const char *const fault_names[FAULTS] = {
    "accepted",      "a key that ends in junk", "a key in a wrong block",
    "a long secret", "a misspelt choice",       "a fault further on",
    "a fault of syntax"};

static void write_configuration(enum fault fault) {
  static const char hex[] = "0123456789abcdef";
  int i;
  text_length = 0;
  put("{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1,"
      "\"teamId\":\"ABCDE12345\"}],\"receipts\":{\"sharedSecrets\":{\"*\":\"");
  for (i = 0; i < 16; i++) {
    text[text_length++] = hex[shared_byte(i) >> 4];
    text[text_length++] = hex[shared_byte(i) & 15];
  }
  if (fault == SHARED_BROKEN) put("00");
  put("\"}},\"deviceCheck\":{\"keyId\":\"KEYID12345\",\"privateKey\":\"-----");
  put(fault == KEY_OF_JUNK ? "BEGIN EC PRIVATE" : "BEGIN PRIVATE");
  put(" KEY-----\\n");
  put_base64(key_file_byte, KEY_FILE, fault == KEY_BROKEN);
  put("\\n-----END PRIVATE KEY-----\\n\"}");
  put(",\"session\":{\"secrets\":[{\"id\":\"s1\",\"secret\":\"");
  put_base64(session_byte, SESSION, 0);
  put("\"}]}");
  if (fault == CHOICE) put(",\"ledger\":{\"engine\":\"sqlit\"}");
  if (fault == LATER) put(",\"session\":{}");
  put(fault == SYNTAX ? "}}" : "}");
}

/* Whether memory has only what a verifier needs of the secrets, each once: the
 * number of the key, the digits of the shared secret, and the bytes of the
 * session secret. */
static int is_held_once(int kinds, const char *names) {
  return kinds == 3 && strcmp(names,
                              "key, as a number (1), shared secret, as hex (1), "
                              "session secret (1)") == 0;
}

static void check_configuration(enum fault fault) {
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  char names[512];
  write_configuration(fault);
  status = assay_verifier_new(text, text_length, &verifier, &doc);
  wipe(text, sizeof text);
  expect((fault == NONE) == (status == ASSAY_OK) &&
             (verifier != NULL) == (fault == NONE),
         fault_names[fault], assay_status_name(status));
  (void)assay_doc_json(doc, NULL);
  if (fault == CHOICE) {
    const char *message = assay_doc_text(doc, "error.message", 13, NULL);
    expect(message != NULL && strstr(message, "did you mean sqlite?") != NULL,
           "the advice beside secrets", message);
  }
  if (fault == NONE) {
    /* A verifier keeps keys and secrets, each once (EXC-10). */
    expect(is_held_once(look(names, sizeof names), names), fault_names[fault], names);
  } else {
    expect(look(names, sizeof names) == 0, fault_names[fault], names);
  }
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after it was freed", names);
}

/* Checks an exchange whose request has the shared secret in its body
 * (EXC-22). */
static void check_exchange(void) {
  static const char request[] =
      "{\"operation\":\"call-verify-receipt\",\"receipt\":\"MIAGCSqGSIb3DQEHAqCAMIAAAAAA\"}";
  static const char unusable[] = "{\"id\":1,\"status\":500,\"body\":null}";
  assay_verifier *verifier = NULL;
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  char names[512];
  size_t length = 0;
  write_configuration(NONE);
  if (assay_verifier_new(text, text_length, &verifier, NULL) != 0) {
    expect(0, "a verifier", "");
    return;
  }
  wipe(text, sizeof text);
  (void)assay_exchange_new(verifier, request, sizeof request - 1, NULL, 0, NOW,
                           &exchange, &doc);
  (void)assay_doc_json(doc, NULL);
  expect(assay_doc_text(doc, "exchange.http.body.text", 23, &length) != NULL,
         "the request is handed out", "");
  expect(look(names, sizeof names) > 0, "the secret stands in the step", names);
  assay_doc_free(doc);
  expect(is_held_once(look(names, sizeof names), names), "after the step was freed",
         names);
  (void)assay_exchange_step(exchange, unusable, sizeof unusable - 1, NOW, &doc);
  (void)assay_doc_json(doc, NULL);
  expect(is_held_once(look(names, sizeof names), names), "in a wait", names);
  assay_doc_free(doc);
  (void)assay_exchange_step(exchange, "{}", 2, NOW + 1000, &doc);
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after the exchange", names);
}

static assay_verifier *good_verifier(void) {
  assay_verifier *verifier = NULL;
  write_configuration(NONE);
  if (assay_verifier_new(text, text_length, &verifier, NULL) != 0)
    expect(0, "a verifier", "");
  wipe(text, sizeof text);
  return verifier;
}

/* Adds the end of a text of a document to the secrets to search for; if `mark`
 * is not NULL, the text before it. */
static void look_for(const assay_doc *doc, const char *path, const char *mark) {
  size_t length = 0, i;
  const char *found = assay_doc_text(doc, path, strlen(path), &length);
  const char *end = found != NULL && mark != NULL ? strstr(found, mark) : NULL;
  if (end != NULL) length = (size_t)(end - found);
  expect(found != NULL && length > LONGEST, "it is handed out", path);
  if (found == NULL || length <= LONGEST) return;
  for (i = 0; i < LONGEST; i++)
    made->masked[i] = (unsigned char)found[length - LONGEST + i] ^ MASK;
  made->length = LONGEST;
}

/* Checks that a token signed by the key is only in its document (EXC-22). */
static void check_signing(void) {
  static const char request[] = "{\"operation\":\"sign-device-check-token\"}";
  assay_verifier *verifier = good_verifier();
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  char names[512];
  (void)assay_exchange_new(verifier, request, sizeof request - 1, NULL, 0, NOW,
                           &exchange, &doc);
  (void)assay_doc_json(doc, NULL);
  look_for(doc, "exchange.token", NULL);
  expect(look(names, sizeof names) == 4, "the token stands in its document", names);
  assay_doc_free(doc);
  expect(is_held_once(look(names, sizeof names), names), "after the token was freed",
         names);
  made->length = 0;
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after signing", names);
}

/* Checks the device token, and a token in a step, in the same way (EXC-22). */
static void check_device_check(void) {
  static const char again[] = "{\"id\":1,\"status\":401,\"body\":null}";
  static const char done[] = "{\"id\":2,\"status\":200,\"body\":null}";
  assay_verifier *verifier = good_verifier();
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  char names[512];
  text_length = 0;
  put("{\"operation\":\"validate-device-token\",\"transactionId\":\"t\",\"deviceToken\":\"");
  put_base64(token_byte, TOKEN, 0);
  put("\"}");
  (void)assay_exchange_new(verifier, text, text_length, NULL, 0, NOW, &exchange, &doc);
  wipe(text, sizeof text);
  (void)assay_doc_json(doc, NULL);
  look_for(doc, "exchange.http.headers.0.1", NULL);
  assay_doc_free(doc);
  expect(look(names, sizeof names) == 4 && strstr(names, "token, as base64 (1)") != NULL,
         "the device token waits for a repetition", names);
  (void)assay_exchange_step(exchange, again, sizeof again - 1, NOW, &doc);
  assay_doc_free(doc);
  status = assay_exchange_step(exchange, done, sizeof done - 1, NOW, &doc);
  expect(status == ASSAY_OK, "a device token is valid", assay_status_name(status));
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  expect(is_held_once(look(names, sizeof names), names), "after the tokens", names);
  made->length = 0;
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after DeviceCheck", names);
}

/* Checks a session token without a valid signature. */
static void check_session(void) {
  assay_verifier *verifier = good_verifier();
  assay_doc *doc = NULL;
  assay_exchange *exchange = NULL;
  assay_status status;
  char names[512];
  size_t i;
  text_length = 0;
  put("{\"operation\":\"verify-session\",\"purpose\":\"read\",\"session\":\"as1~");
  put_base64(token_byte, TOKEN, 0);
  put("~AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}");
  for (i = 0; i < text_length; i++)
    if (text[i] == '+' || text[i] == '/') text[i] = text[i] == '+' ? '-' : '_';
  status = assay_exchange_new(verifier, text, text_length, NULL, 0, NOW, &exchange, &doc);
  wipe(text, sizeof text);
  expect(strcmp(assay_status_name(status), "rejected.session.signature") == 0,
         "a session that nobody signed", assay_status_name(status));
  assay_doc_free(doc);
  expect(is_held_once(look(names, sizeof names), names), "after a session token", names);
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after the session", names);
}

/* Checks that a token in a response is in the result, and is wiped with the
 * result (EXC-22). */
static void check_answer(void) {
  static const char request[] = "{\"operation\":\"exchange-authorization-code\",\"code\":\"c\"}";
  assay_verifier *verifier = NULL;
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  char names[512];
  text_length = 0;
  put("{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1}],\"appleId\":{"
      "\"teamId\":\"ABCDE12345\",\"keyId\":\"KEYID12345\",\"privateKey\":\""
      "-----BEGIN PRIVATE KEY-----\\n");
  put_base64(key_file_byte, KEY_FILE, 0);
  put("\\n-----END PRIVATE KEY-----\\n\"}}");
  (void)assay_verifier_new(text, text_length, &verifier, NULL);
  wipe(text, sizeof text);
  (void)assay_exchange_new(verifier, request, sizeof request - 1, NULL, 0, NOW,
                           &exchange, &doc);
  look_for(doc, "exchange.http.body.text", "&code=");
  expect(look(names, sizeof names) == 2, "the client secret stands in the step", names);
  assay_doc_free(doc);
  look(names, sizeof names);
  expect(strcmp(names, "key, as a number (1)") == 0, "after the client secret", names);
  made->length = 0;
  text_length = 0;
  put("{\"id\":1,\"status\":200,\"body\":{\"text\":\"{\\\"access_token\\\":\\\"");
  put_base64(token_byte, TOKEN, 0);
  put("\\\",\\\"token_type\\\":\\\"Bearer\\\",\\\"expires_in\\\":3600,"
      "\\\"refresh_token\\\":\\\"r\\\"}\"}}");
  status = assay_exchange_step(exchange, text, text_length, NOW, &doc);
  wipe(text, sizeof text);
  expect(status == ASSAY_OK, "a code is exchanged", assay_status_name(status));
  expect(look(names, sizeof names) == 2 && strstr(names, "token, as base64 (") != NULL,
         "the token stands in its result", names);
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  look(names, sizeof names);
  expect(strcmp(names, "key, as a number (1)") == 0, "after an answer", names);
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after Sign in with Apple", names);
}

static void check_token(void) {
  static const char config[] =
      "{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1}]}";
  assay_verifier *verifier = NULL;
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  char names[512];
  size_t length = 0;
  if (assay_verifier_new(config, sizeof config - 1, &verifier, NULL) != 0) {
    expect(0, "a verifier", "");
    return;
  }
  text_length = 0;
  put("{\"operation\":\"normalize-device-token\",\"deviceToken\":\"");
  put_base64(token_byte, TOKEN, 0);
  put("\"}");
  status = assay_exchange_new(verifier, text, text_length, NULL, 0, NOW,
                              &exchange, &doc);
  wipe(text, sizeof text);
  expect(status == ASSAY_OK, "a token's form", assay_status_name(status));
  (void)assay_doc_json(doc, NULL);
  (void)assay_doc_text(doc, "exchange.deviceToken", 20, &length);
  expect(length == (size_t)base64_length(TOKEN), "the token is handed out", "");
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  assay_verifier_free(verifier);
  expect(look(names, sizeof names) == 0, "after the token's document", names);
}

/* Runs all checks. In a second thread they use another arena and another
 * stack. */
static void *check_all(void *unused) {
  char names[512];
  int fault;
  (void)unused;
  /* The search must find secrets that were not wiped. */
  write_configuration(NONE);
  expect(look(names, sizeof names) >= 2, "the search finds", names);
  wipe(text, sizeof text);
  expect(look(names, sizeof names) == 0, "before any call", names);
  for (fault = NONE; fault < FAULTS; fault++)
    check_configuration((enum fault)fault);
  check_token();
  check_exchange();
  check_signing();
  check_device_check();
  check_session();
  check_answer();
  return NULL;
}

int main(int argc, char **argv) {
  const char *suite = argc > 1 ? argv[1] : "secrets";
  pthread_t thread;
  make_needles();
  check_all(NULL);
  if (pthread_create(&thread, NULL, check_all, NULL) != 0) return 2;
  pthread_join(thread, NULL);
  return finish(suite);
}
