/* der.c - see der.h. */
#define _GNU_SOURCE
#include "der.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

void put(struct bytes *to, const void *from, size_t length) {
  if (to->length + length > to->room) {
    to->room = (to->length + length) * 2;
    to->at = realloc(to->at, to->room);
    demand(to->at != NULL, "realloc");
  }
  memcpy(to->at + to->length, from, length);
  to->length += length;
}

void element(struct bytes *to, unsigned char tag, const void *content,
             size_t length) {
  unsigned char head[5];
  size_t size = 0;
  head[size++] = tag;
  if (length < 0x80) {
    head[size++] = (unsigned char)length;
  } else if (length < 0x100) {
    head[size++] = 0x81;
    head[size++] = (unsigned char)length;
  } else if (length < 0x10000) {
    head[size++] = 0x82;
    head[size++] = (unsigned char)(length >> 8);
    head[size++] = (unsigned char)length;
  } else {
    head[size++] = 0x83;
    head[size++] = (unsigned char)(length >> 16);
    head[size++] = (unsigned char)(length >> 8);
    head[size++] = (unsigned char)length;
  }
  put(to, head, size);
  put(to, content, length);
}

void number(struct bytes *to, unsigned long long value) {
  unsigned char content[9];
  size_t size = 0;
  int shift;
  for (shift = 56; shift >= 0; shift -= 8) {
    unsigned char octet = (unsigned char)(value >> shift);
    if (size == 0 && octet == 0 && shift > 0) continue;
    if (size == 0 && octet >= 0x80) content[size++] = 0;
    content[size++] = octet;
  }
  element(to, 0x02, content, size);
}

void attribute(struct bytes *to, unsigned type, const void *value,
               size_t length) {
  struct bytes inner = {0};
  number(&inner, type);
  number(&inner, 1);
  element(&inner, 0x04, value, length);
  element(to, 0x30, inner.at, inner.length);
  free(inner.at);
}

char *base64(const unsigned char *from, size_t length) {
  char *text = malloc(length / 3 * 4 + 5);
  demand(text != NULL, "malloc");
  EVP_EncodeBlock((unsigned char *)text, from, (int)length);
  return text;
}

char *format(const char *pattern, ...) {
  va_list arguments;
  char *text = NULL;
  int length;
  va_start(arguments, pattern);
  length = vasprintf(&text, pattern, arguments);
  va_end(arguments);
  demand(length >= 0, "vasprintf");
  return text;
}

char *base64url(const unsigned char *from, size_t length) {
  char *text = base64(from, length), *at;
  for (at = text; *at != '\0'; at++) {
    if (*at == '+') *at = '-';
    if (*at == '/') *at = '_';
    if (*at == '=') *at = '\0';
    if (*at == '\0') break;
  }
  return text;
}
