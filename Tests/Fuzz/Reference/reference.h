/*
 * reference.h - second readers of the same bytes: libcrypto for certificates,
 * signatures, dates and base64, cJSON for JSON. The fuzz targets compare Assay's
 * own readers with these.
 */
#ifndef ASSAY_FUZZ_REFERENCE_H
#define ASSAY_FUZZ_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* ---- certificates -------------------------------------------------------- */

typedef struct reference_certificate reference_certificate;

/* Reads one certificate from all of the bytes. Returns NULL if it is none. */
reference_certificate *reference_certificate_read(const uint8_t *der,
                                                  size_t length);
void reference_certificate_free(reference_certificate *certificate);

/* The parts of a certificate: the content bytes of the serial number, the DER
 * of the names, the bytes of the key's bit string. They are written to out
 * (4,096 bytes), and the count is returned. */
enum {
  REFERENCE_SERIAL,
  REFERENCE_ISSUER,
  REFERENCE_SUBJECT,
  REFERENCE_KEY
};
size_t reference_certificate_field(const reference_certificate *certificate,
                                   int field, uint8_t *out);
/* Returns notBefore (0) or notAfter (1) in seconds since 1970, or INT64_MIN. */
int64_t reference_certificate_date(const reference_certificate *certificate,
                                   int end);
/* Returns 0, 1 or 2 for v1, v2 and v3. */
long reference_certificate_version(const reference_certificate *certificate);
int reference_certificate_extensions(const reference_certificate *certificate);
/* Returns whether it is a CA, or its bits of key usage; -1 without the extension. */
int reference_certificate_is_authority(const reference_certificate *certificate);
int reference_certificate_usage(const reference_certificate *certificate,
                                int bit);
/* Returns whether it has a non-critical extension of that dotted identifier. */
int reference_certificate_has(const reference_certificate *certificate,
                              const char *identifier);
/* Returns whether libcrypto accepts signatures, names, dates, CA flags and key
 * usages of leaf and intermediate below root at that second. */
int reference_chain_holds(const reference_certificate *leaf,
                          const reference_certificate *intermediate,
                          const reference_certificate *root, int64_t second);

/* ---- revocation ------------------------------------------------------------ */

/* Returns how many certificates an OCSP response of all the bytes is about; -1 if
 * it is no response, -2 if it has no basic response. */
int reference_revocation(const uint8_t *der, size_t length);

/* ---- DER, dates, signatures, base64 --------------------------------------- */

/* Returns whether the bytes are one value, with every length in it complete. */
int reference_der_is_whole(const uint8_t *der, size_t length, int depth);
/* Returns whether libcrypto reads an ECDSA-Sig-Value and writes the same bytes. */
int reference_signature_is_same(const uint8_t *der, size_t length);
/* Returns an ASN.1 time in seconds since 1970, or INT64_MIN. */
int64_t reference_time(const uint8_t *text, size_t length, int is_utc);
/* Writes standard base64 with padding; out has room for 4 * (n / 3 + 1) + 1. */
size_t reference_base64(const uint8_t *bytes, size_t length, char *out);

/* ---- JSON ------------------------------------------------------------------ */

typedef struct cJSON reference_json;

/* Reads one JSON text with nothing after it. Returns NULL if it is none. */
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
/* Returns the whole part of a JSON number's text; sets *fits to 0 if it is too large. */
int64_t reference_truncated(const uint8_t *text, size_t length, int *fits);

/* ---- dates of purchases ----------------------------------------------------- */

/* Returns 1 if in force, else 0, by the definition in assay.h. */
int reference_is_in_force(int64_t expires, int64_t grace, int64_t revoked,
                          int64_t now);

#endif
