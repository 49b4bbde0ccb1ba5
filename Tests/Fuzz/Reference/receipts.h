/*
 * receipts.h - second readers of the parts of a receipt: a list reader and a
 * BER reader of a few lines each, written from the specification, and libcrypto
 * for the container, attributes, dates and base64.
 */
#ifndef ASSAY_FUZZ_RECEIPTS_H
#define ASSAY_FUZZ_RECEIPTS_H

#include <stddef.h>
#include <stdint.h>

/* ---- lists ----------------------------------------------------------------- */

enum { REFERENCE_PAIRS = 64 };

/* Offsets and lengths in the text after escapes are resolved. */
typedef struct {
  size_t key;
  size_t key_length;
  size_t value;
  size_t value_length;
  int is_bare;
} reference_pair;

/* Reads a list by the grammar of docs/spec/receipts.md 2.1. Writes keys and
 * values to out, which has room for length bytes, without quotes and escapes.
 * Returns the count of pairs, or -1. Does not check that the text is UTF-8. */
int reference_list(const uint8_t *text, size_t length, size_t value_cap,
                   uint8_t *out, reference_pair pairs[REFERENCE_PAIRS]);

/* ---- base64 ---------------------------------------------------------------- */

/* Decodes a text by RCP-2 to out (length bytes). Returns the count, or -1. */
long reference_tolerant_base64(const uint8_t *text, size_t length,
                               uint8_t *out);

/* ---- containers ------------------------------------------------------------ */

/* Returns the count of elements in bytes that are one BER value (APR-1), or -1. */
long reference_ber_elements(const uint8_t *ber, size_t length, long elements,
                            int depth);

typedef struct reference_message reference_message;

/* Reads a PKCS#7 container of signed data with a payload and one signer, with
 * libcrypto and from all of the bytes. Returns NULL for any other input. */
reference_message *reference_message_read(const uint8_t *der, size_t length);
void reference_message_free(reference_message *message);
enum {
  REFERENCE_PAYLOAD,
  REFERENCE_SIGNER_DIGEST,    /* content bytes of the identifier */
  REFERENCE_SIGNER_ALGORITHM, /* content bytes of the identifier */
  REFERENCE_SIGNATURE,
  REFERENCE_SIGNER_ISSUER, /* the DER of the name */
  REFERENCE_SIGNER_SERIAL  /* content bytes */
};
/* Writes a part to out, which has room for `room` bytes. Returns the count, or -1. */
long reference_message_part(const reference_message *message, int part,
                            uint8_t *out, size_t room);
int reference_message_certificates(const reference_message *message);

/* ---- attributes -------------------------------------------------------------- */

typedef struct {
  uint64_t type;
  size_t value; /* offset of the bytes inside the octet string */
  size_t length;
} reference_attribute;

/* Reads the attributes of the SET that starts at `from` and ends at `to`.
 * Returns their count, or -1 if libcrypto does not read such a SET. */
long reference_attributes(const uint8_t *octets, size_t from, size_t to,
                          reference_attribute *out, size_t room);
/* Finds the content of the only string of that tag. Returns its offset, or -1. */
long reference_string(const uint8_t *octets, size_t from, size_t to, int tag,
                      size_t *length);
/* Reads the only INTEGER. Returns 0 if it is not within 0 ... 2^64-1. */
int reference_number(const uint8_t *octets, size_t from, size_t to,
                     uint64_t *number);

/* ---- dates -------------------------------------------------------------------- */

/* Reads "2026-01-31T23:59:59.5+01:00" as milliseconds since 1970, or INT64_MIN. */
int64_t reference_iso_date(const uint8_t *text, size_t length);
/* Reads "2026-01-31 23:59:59 <zone>" as seconds, whatever the zone. */
int64_t reference_zone_date(const uint8_t *text, size_t length,
                            const char *zone);

#endif
