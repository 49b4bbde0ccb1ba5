/*
 * attest.h - a second reader of the CBOR that App Attest uses: a few recursive
 * lines, written from docs/spec/app-attest.md §2.
 */
#ifndef ASSAY_FUZZ_ATTEST_H
#define ASSAY_FUZZ_ATTEST_H

#include <stddef.h>
#include <stdint.h>

enum { REFERENCE_CBOR_ITEMS = 64, REFERENCE_CBOR_DEPTH = 4 };

typedef struct {
  int major;         /* 0 integer, 1 negative, 2 bytes, 3 text, 4 array, 5 map */
  uint64_t argument; /* a number, a length, a count of elements or pairs */
  size_t start;
  size_t content; /* offset after the head */
  size_t end;     /* offset after the item and everything inside it */
} reference_cbor_item;

/* Reads bytes that are one item, with all items inside it in order. Returns
 * their count, or -1 if the bytes leave the subset or do not end with it. */
long reference_cbor(const uint8_t *octets, size_t length,
                    reference_cbor_item out[REFERENCE_CBOR_ITEMS]);

#endif
