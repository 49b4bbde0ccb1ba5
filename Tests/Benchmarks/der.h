/*
 * der.h - growing byte arrays, and DER elements written into them.
 */
#ifndef ASSAY_BENCHMARKS_DER_H
#define ASSAY_BENCHMARKS_DER_H

#include <stddef.h>

struct bytes {
  unsigned char *at;
  size_t length, room;
};

/** Appends bytes. */
void put(struct bytes *to, const void *from, size_t length);
/** Appends one element. */
void element(struct bytes *to, unsigned char tag, const void *content,
             size_t length);
/** Appends an INTEGER. */
void number(struct bytes *to, unsigned long long value);
/** Appends a receipt's SEQUENCE { type, version 1, OCTET STRING value }. */
void attribute(struct bytes *to, unsigned type, const void *value,
               size_t length);

/** Returns bytes as text; base64url is without padding. Allocated. */
char *base64(const unsigned char *from, size_t length);
char *base64url(const unsigned char *from, size_t length);
/** Returns a text formatted as printf does. Allocated. */
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

#endif
