/* body_text.c - see body_text.h. */
#include "body_text.h"

#include <stdlib.h>
#include <string.h>

/* A longer body is always passed as base64. */
enum { LONGEST_TEXT = 1 << 20 };

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Returns the byte length of the character at `at`; 0 if it is not UTF-8. */
static size_t character_len(const unsigned char *at, size_t left) {
  static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t len = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : 4;
  unsigned code = at[0] & (0xffu >> (len + 1));
  size_t n;
  if (len == 1) return 1;
  if ((len == 4 && at[0] >> 3 != 30) || left < len) return 0;
  for (n = 1; n < len; n++) {
    if (at[n] >> 6 != 2) return 0;
    code = code << 6 | (at[n] & 0x3f);
  }
  if (code < least[len] || code > 0x10ffff) return 0;
  return code >> 11 == 0x1b ? 0 : len; /* a surrogate */
}

/* Whether a body can be passed as text: UTF-8 without a NUL. */
static int is_text(const char *bytes, size_t len) {
  size_t at = 0, one;
  if (len > LONGEST_TEXT || memchr(bytes, 0, len) != NULL) return 0;
  for (; at < len; at += one) {
    one = character_len((const unsigned char *)bytes + at, len - at);
    if (one == 0) return 0;
  }
  return 1;
}

static char *base64_of(const unsigned char *bytes, size_t len) {
  char *text = malloc(len / 3 * 4 + 5), *out = text;
  size_t at, n;
  if (text == NULL) return NULL;
  for (at = 0; at < len; at += 3) {
    unsigned long group = 0;
    for (n = 0; n < 3; n++)
      group = group << 8 | (at + n < len ? bytes[at + n] : 0u);
    for (n = 0; n < 4; n++)
      *out++ = n > len - at ? '=' : digits[group >> (18 - 6 * n) & 0x3f];
  }
  *out = '\0';
  return text;
}

cJSON *body_of_bytes(const char *bytes, size_t len) {
  int text = is_text(bytes, len);
  char *value = text ? malloc(len + 1)
                     : base64_of((const unsigned char *)bytes, len);
  cJSON *body = cJSON_CreateObject();
  if (value != NULL) {
    if (text) {
      memcpy(value, bytes, len);
      value[len] = '\0';
    }
    cJSON_AddStringToObject(body, text ? "text" : "base64", value);
    free(value);
  }
  return body;
}

/* Decodes base64 as the library writes it: standard, with padding. */
static char *bytes_of_base64(const char *text, size_t *len) {
  char *bytes = malloc(strlen(text) / 4 * 3 + 3);
  unsigned long bits = 0;
  int count = 0;
  for (*len = 0; bytes != NULL && *text != '\0' && *text != '='; text++) {
    const char *digit = strchr(digits, *text);
    if (digit == NULL) break;
    bits = bits << 6 | (unsigned long)(digit - digits);
    if (++count % 4 != 1)
      bytes[(*len)++] = (char)(bits >> (6 - 2 * ((count - 1) % 4)));
  }
  return bytes;
}

char *bytes_of_body(const cJSON *body, size_t *len) {
  const cJSON *text = cJSON_GetObjectItemCaseSensitive(body, "text");
  const cJSON *base64 = cJSON_GetObjectItemCaseSensitive(body, "base64");
  char *bytes;
  if (cJSON_IsString(base64)) return bytes_of_base64(base64->valuestring, len);
  *len = cJSON_IsString(text) ? strlen(text->valuestring) : 0;
  bytes = malloc(*len + 1);
  if (bytes != NULL && *len > 0) memcpy(bytes, text->valuestring, *len);
  return bytes;
}
