/*
 * What other readers make of the same bytes: libcrypto for certificates,
 * signatures, dates and base64, cJSON for JSON. The fuzz targets compare Assay's
 * own readers with these.
 */
#ifndef ASSAY_FUZZ_REFERENCE_H
#define ASSAY_FUZZ_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* ---- certificates -------------------------------------------------------- */

typedef struct reference_certificate reference_certificate;

/* One certificate that takes up all of the bytes, or NULL. */
reference_certificate *reference_certificate_read(const uint8_t *der,
                                                  size_t length);
void reference_certificate_free(reference_certificate *certificate);

/* Content octets of the serial number, the DER of the names, the octets of
 * the key's bit string: written to out (4,096 octets), the count returned. */
enum {
  REFERENCE_SERIAL,
  REFERENCE_ISSUER,
  REFERENCE_SUBJECT,
  REFERENCE_KEY
};
size_t reference_certificate_field(const reference_certificate *certificate,
                                   int field, uint8_t *out);
/* notBefore (0) or notAfter (1), seconds since 1970; INT64_MIN: no date. */
int64_t reference_certificate_date(const reference_certificate *certificate,
                                   int end);
/* 0, 1 or 2 stand for v1, v2 and v3. */
long reference_certificate_version(const reference_certificate *certificate);
int reference_certificate_extensions(const reference_certificate *certificate);
/* -1: there is no such extension; otherwise CA, or the bits of key usage. */
int reference_certificate_is_authority(const reference_certificate *certificate);
int reference_certificate_usage(const reference_certificate *certificate,
                                int bit);
/* Whether it has a non-critical extension of that dotted identifier. */
int reference_certificate_has(const reference_certificate *certificate,
                              const char *identifier);
/* Whether libcrypto accepts the signatures, names, dates, CA flags and key usages
 * of leaf and intermediate below root at that second. */
int reference_chain_holds(const reference_certificate *leaf,
                          const reference_certificate *intermediate,
                          const reference_certificate *root, int64_t second);

/* ---- revocation ------------------------------------------------------------ */

/* How many certificates the OCSP response that takes up all of the bytes tells of; -1: it
 * is none, -2: it is one without a basic response. */
int reference_revocation(const uint8_t *der, size_t length);

/* ---- DER, dates, signatures, base64 --------------------------------------- */

/* Whether the bytes are one value, every length in it whole. */
int reference_der_is_whole(const uint8_t *der, size_t length, int depth);
/* Whether libcrypto reads an ECDSA-Sig-Value and writes the same bytes. */
int reference_signature_is_same(const uint8_t *der, size_t length);
/* Seconds since 1970 of an ASN.1 time; INT64_MIN: none. */
int64_t reference_time(const uint8_t *text, size_t length, int is_utc);
/* Standard base64 with padding; out has room for 4 * (n / 3 + 1) + 1. */
size_t reference_base64(const uint8_t *bytes, size_t length, char *out);

/* ---- JSON ------------------------------------------------------------------ */

typedef struct cJSON reference_json;

/* One text with nothing after it, or NULL. */
reference_json *reference_json_read(const char *text, size_t length);
void reference_json_free(reference_json *json);
enum {
  REFERENCE_NULL,
  REFERENCE_BOOLEAN,
  REFERENCE_NUMBER,
  REFERENCE_STRING,
  REFERENCE_ARRAY,
  REFERENCE_OBJECT
};
int reference_json_kind(const reference_json *json);
const reference_json *reference_json_child(const reference_json *json);
const reference_json *reference_json_next(const reference_json *json);
const char *reference_json_name(const reference_json *json);
const char *reference_json_string(const reference_json *json);
double reference_json_number(const reference_json *json);
int reference_json_is_true(const reference_json *json);
/* The whole part of a JSON number's text; 0 in *fits when it is too large. */
int64_t reference_truncated(const uint8_t *text, size_t length, int *fits);

/* ---- dates of purchases ----------------------------------------------------- */

/* 1: in force, 0: not, by the sentence in assay.h. */
int reference_is_in_force(int64_t expires, int64_t grace, int64_t revoked,
                          int64_t now);

#endif
