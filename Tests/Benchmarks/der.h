/*
 * der.h - bytes that grow, and DER elements written into them.
 */
#ifndef ASSAY_BENCHMARKS_DER_H
#define ASSAY_BENCHMARKS_DER_H

#include <stddef.h>

struct bytes {
  unsigned char *at;
  size_t length, room;
};

/** Append. */
void put(struct bytes *to, const void *from, size_t length);
/** Append one element. */
void element(struct bytes *to, unsigned char tag, const void *content,
             size_t length);
/** Append an INTEGER. */
void number(struct bytes *to, unsigned long long value);
/** Append a receipt's SEQUENCE { type, version 1, OCTET STRING value }. */
void attribute(struct bytes *to, unsigned type, const void *value,
               size_t length);

/** The text of some bytes; base64url is without padding. Allocated. */
char *base64(const unsigned char *from, size_t length);
char *base64url(const unsigned char *from, size_t length);
/** A text as printf writes it. Allocated. */
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

#endif
