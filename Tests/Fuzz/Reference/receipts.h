/*
 * What other readers make of the parts of a receipt: a list reader and a BER
 * reader of a few lines each, written from the specification, and libcrypto
 * for the container, attributes, dates and base64.
 */
#ifndef ASSAY_FUZZ_RECEIPTS_H
#define ASSAY_FUZZ_RECEIPTS_H

#include <stddef.h>
#include <stdint.h>

/* ---- lists ----------------------------------------------------------------- */

enum { REFERENCE_PAIRS = 64 };

/* Offsets into the resolved text. */
typedef struct {
  size_t key;
  size_t key_length;
  size_t value;
  size_t value_length;
  int is_bare;
} reference_pair;

/* Reads a list by the grammar of docs/spec/receipts.md 2.1. Keys and values are
 * written to out, which has room for length octets, without quotes and escapes.
 * The count of pairs, or -1. Whether the text is UTF-8 is not asked. */
int reference_list(const uint8_t *text, size_t length, size_t value_cap,
                   uint8_t *out, reference_pair pairs[REFERENCE_PAIRS]);

/* ---- base64 ---------------------------------------------------------------- */

/* Octets of a text by RCP-2, written to out (length octets), or -1. */
long reference_tolerant_base64(const uint8_t *text, size_t length,
                               uint8_t *out);

/* ---- containers ------------------------------------------------------------ */

/* Elements of the one BER value that the octets are (APR-1), or -1. */
long reference_ber_elements(const uint8_t *ber, size_t length, long elements,
                            int depth);

typedef struct reference_message reference_message;

/* A PKCS#7 container of signed data with a payload and one signer, read by
 * libcrypto from all of the octets; NULL for every other. */
reference_message *reference_message_read(const uint8_t *der, size_t length);
void reference_message_free(reference_message *message);
enum {
  REFERENCE_PAYLOAD,
  REFERENCE_SIGNER_DIGEST,    /* content octets of the identifier */
  REFERENCE_SIGNER_ALGORITHM, /* the same */
  REFERENCE_SIGNATURE,
  REFERENCE_SIGNER_ISSUER, /* the DER of the name */
  REFERENCE_SIGNER_SERIAL  /* content octets */
};
/* Written to out, which has room for `room` octets; the count, or -1. */
long reference_message_part(const reference_message *message, int part,
                            uint8_t *out, size_t room);
int reference_message_certificates(const reference_message *message);

/* ---- attributes -------------------------------------------------------------- */

typedef struct {
  uint64_t type;
  size_t value; /* offset of the octets inside the octet string */
  size_t length;
} reference_attribute;

/* The attributes of the SET that starts at `from` and fills the octets up to
 * `to`; the count, or -1 when there is none or libcrypto reads no such. */
long reference_attributes(const uint8_t *octets, size_t from, size_t to,
                          reference_attribute *out, size_t room);
/* The content of the one string of that tag; the offset, or -1. */
long reference_string(const uint8_t *octets, size_t from, size_t to, int tag,
                      size_t *length);
/* The number of the one INTEGER; 0 when it is none of 0 ... 2^64-1. */
int reference_number(const uint8_t *octets, size_t from, size_t to,
                     uint64_t *number);

/* ---- dates -------------------------------------------------------------------- */

/* "2026-01-31T23:59:59.5+01:00" in milliseconds since 1970; INT64_MIN: none. */
int64_t reference_iso_date(const uint8_t *text, size_t length);
/* "2026-01-31 23:59:59 <zone>" in seconds, whatever the zone. */
int64_t reference_zone_date(const uint8_t *text, size_t length,
                            const char *zone);

#endif
