#include "reference.h"

#include <cjson/cJSON.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELD_SIZE = 4096 };

/* ---- certificates ---------------------------------------------------------- */

struct reference_certificate {
  X509 *x509;
};

reference_certificate *reference_certificate_read(const uint8_t *der,
                                                  size_t length) {
  const unsigned char *at = der;
  X509 *x509 = d2i_X509(NULL, &at, (long)length);
  reference_certificate *certificate;
  ERR_clear_error();
  if (x509 == NULL) return NULL;
  certificate = at == der + length ? malloc(sizeof *certificate) : NULL;
  if (certificate == NULL)
    X509_free(x509);
  else
    certificate->x509 = x509;
  return certificate;
}

void reference_certificate_free(reference_certificate *certificate) {
  if (certificate == NULL) return;
  X509_free(certificate->x509);
  free(certificate);
}

static size_t copied(const unsigned char *bytes, long length, uint8_t *out) {
  if (bytes == NULL || length < 0 || length > FIELD_SIZE) return 0;
  memcpy(out, bytes, (size_t)length);
  return (size_t)length;
}

static size_t written_name(const X509_NAME *name, uint8_t *out) {
  unsigned char *der = NULL;
  int length = i2d_X509_NAME(name, &der);
  size_t count = copied(der, length, out);
  OPENSSL_free(der);
  return count;
}

static size_t written_serial(const ASN1_INTEGER *serial, uint8_t *out) {
  unsigned char *der = NULL;
  const unsigned char *at;
  long content = 0;
  int tag, class;
  size_t count = 0;
  int length = i2d_ASN1_INTEGER(serial, &der);
  at = der;
  if (length > 0 && !(ASN1_get_object(&at, &content, &tag, &class, length) & 0x80))
    count = copied(at, content, out);
  OPENSSL_free(der);
  return count;
}

size_t reference_certificate_field(const reference_certificate *certificate,
                                   int field, uint8_t *out) {
  const X509 *x509 = certificate->x509;
  const ASN1_BIT_STRING *key;
  switch (field) {
  case REFERENCE_SERIAL:
    return written_serial(X509_get0_serialNumber(x509), out);
  case REFERENCE_ISSUER:
    return written_name(X509_get_issuer_name(x509), out);
  case REFERENCE_SUBJECT:
    return written_name(X509_get_subject_name(x509), out);
  default:
    key = X509_get0_pubkey_bitstr(x509);
    return copied(ASN1_STRING_get0_data(key), ASN1_STRING_length(key), out);
  }
}

static int64_t seconds(const ASN1_TIME *date) {
  struct tm parts;
  if (date == NULL || !ASN1_TIME_to_tm(date, &parts)) {
    ERR_clear_error();
    return INT64_MIN;
  }
  return (int64_t)timegm(&parts);
}

int64_t reference_certificate_date(const reference_certificate *certificate,
                                   int end) {
  return seconds(end ? X509_get0_notAfter(certificate->x509)
                     : X509_get0_notBefore(certificate->x509));
}

long reference_certificate_version(const reference_certificate *certificate) {
  return X509_get_version(certificate->x509);
}

int reference_certificate_extensions(const reference_certificate *certificate) {
  return X509_get_ext_count(certificate->x509);
}

int reference_certificate_is_authority(
    const reference_certificate *certificate) {
  int found = -1;
  int answer = -1;
  BASIC_CONSTRAINTS *value = X509_get_ext_d2i(
      certificate->x509, NID_basic_constraints, NULL, &found);
  (void)found;
  if (value != NULL) answer = value->ca ? 1 : 0;
  BASIC_CONSTRAINTS_free(value);
  ERR_clear_error();
  return answer;
}

int reference_certificate_usage(const reference_certificate *certificate,
                                int bit) {
  int answer = -1;
  ASN1_BIT_STRING *value =
      X509_get_ext_d2i(certificate->x509, NID_key_usage, NULL, NULL);
  if (value != NULL) answer = ASN1_BIT_STRING_get_bit(value, bit);
  ASN1_BIT_STRING_free(value);
  ERR_clear_error();
  return answer;
}

int reference_certificate_has(const reference_certificate *certificate,
                              const char *identifier) {
  ASN1_OBJECT *object = OBJ_txt2obj(identifier, 1);
  int at = X509_get_ext_by_OBJ(certificate->x509, object, -1);
  ASN1_OBJECT_free(object);
  return at >= 0 &&
         !X509_EXTENSION_get_critical(X509_get_ext(certificate->x509, at));
}

static int is_issued_by(X509 *certificate, X509 *issuer) {
  EVP_PKEY *key = X509_get0_pubkey(issuer);
  return key != NULL && X509_verify(certificate, key) == 1 &&
         X509_NAME_cmp(X509_get_issuer_name(certificate),
                       X509_get_subject_name(issuer)) == 0;
}

/* X509_cmp_time returns -1 for equal times, and both ends belong to the validity. */
static int holds_at(const X509 *certificate, time_t second) {
  time_t before = second - 1;
  return X509_cmp_time(X509_get0_notBefore(certificate), &second) < 0 &&
         X509_cmp_time(X509_get0_notAfter(certificate), &before) > 0;
}

static int has_usage(const reference_certificate *certificate, int bit) {
  return reference_certificate_usage(certificate, bit) != 0;
}

/* X509_verify_cert is not used: it reads extensions that Apple's rules do not
 * require, and compares key identifiers. */
int reference_chain_holds(const reference_certificate *leaf,
                          const reference_certificate *intermediate,
                          const reference_certificate *root, int64_t second) {
  int holds = is_issued_by(leaf->x509, intermediate->x509) &&
              is_issued_by(intermediate->x509, root->x509) &&
              reference_certificate_is_authority(intermediate) == 1 &&
              reference_certificate_is_authority(leaf) != 1 &&
              has_usage(intermediate, 5) && has_usage(leaf, 0) &&
              holds_at(leaf->x509, (time_t)second) &&
              holds_at(intermediate->x509, (time_t)second);
  ERR_clear_error();
  return holds;
}

/* ---- revocation ------------------------------------------------------------ */

int reference_revocation(const uint8_t *der, size_t length) {
  const unsigned char *at = der;
  OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)length);
  OCSP_BASICRESP *basic = NULL;
  int count = -1;
  if (response != NULL && at == der + length) {
    basic = OCSP_response_get1_basic(response);
    count = basic == NULL ? -2 : OCSP_resp_count(basic);
  }
  OCSP_BASICRESP_free(basic);
  OCSP_RESPONSE_free(response);
  ERR_clear_error();
  return count;
}

/* ---- DER, dates, signatures, base64 ----------------------------------------- */

int reference_der_is_whole(const uint8_t *der, size_t length, int depth) {
  const unsigned char *at = der;
  const unsigned char *end = der + length;
  long content = 0;
  int tag, class, form;
  if (depth > 64 || length == 0) return 0;
  form = ASN1_get_object(&at, &content, &tag, &class, (long)length);
  ERR_clear_error();
  /* 0x80: no value; 0x01: indefinite length. */
  if (form & 0x81) return 0;
  if (at + content != end) return 0;
  if (!(form & V_ASN1_CONSTRUCTED)) return 1;
  while (at < end) {
    const unsigned char *inner = at;
    long size = 0;
    form = ASN1_get_object(&inner, &size, &tag, &class, (long)(end - at));
    ERR_clear_error();
    if (form & 0x81) return 0;
    if (!reference_der_is_whole(at, (size_t)(inner + size - at), depth + 1))
      return 0;
    at = inner + size;
  }
  return 1;
}

int reference_signature_is_same(const uint8_t *der, size_t length) {
  const unsigned char *at = der;
  unsigned char *again = NULL;
  ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)length);
  int same = 0;
  if (signature != NULL && at == der + length) {
    int count = i2d_ECDSA_SIG(signature, &again);
    same = count == (int)length && memcmp(again, der, length) == 0;
  }
  OPENSSL_free(again);
  ECDSA_SIG_free(signature);
  ERR_clear_error();
  return same;
}

int64_t reference_time(const uint8_t *text, size_t length, int is_utc) {
  int64_t found = INT64_MIN;
  ASN1_STRING *date =
      ASN1_STRING_type_new(is_utc ? V_ASN1_UTCTIME : V_ASN1_GENERALIZEDTIME);
  if (date != NULL && ASN1_STRING_set(date, text, (int)length))
    found = seconds(date);
  ASN1_STRING_free(date);
  ERR_clear_error();
  return found;
}

size_t reference_base64(const uint8_t *bytes, size_t length, char *out) {
  return (size_t)EVP_EncodeBlock((unsigned char *)out, bytes, (int)length);
}

/* ---- JSON --------------------------------------------------------------------- */

reference_json *reference_json_read(const char *text, size_t length) {
  /* cJSON needs a NUL after the text to find its end. */
  char *copy = malloc(length + 1);
  reference_json *json;
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  json = cJSON_ParseWithLengthOpts(copy, length + 1, NULL, 1);
  free(copy);
  return json;
}

void reference_json_free(reference_json *json) { cJSON_Delete(json); }

int reference_json_kind(const reference_json *json) {
  if (cJSON_IsBool(json)) return REFERENCE_BOOLEAN;
  if (cJSON_IsNumber(json)) return REFERENCE_NUMBER;
  if (cJSON_IsString(json)) return REFERENCE_STRING;
  if (cJSON_IsArray(json)) return REFERENCE_ARRAY;
  if (cJSON_IsObject(json)) return REFERENCE_OBJECT;
  return REFERENCE_NULL;
}

const reference_json *reference_json_child(const reference_json *json) {
  return json->child;
}
const reference_json *reference_json_next(const reference_json *json) {
  return json->next;
}
const char *reference_json_name(const reference_json *json) {
  return json->string;
}
const char *reference_json_string(const reference_json *json) {
  return json->valuestring;
}
double reference_json_number(const reference_json *json) {
  return json->valuedouble;
}
int reference_json_is_true(const reference_json *json) {
  return cJSON_IsTrue(json);
}

/* The digits as one big number, multiplied or divided by powers of ten. */
int64_t reference_truncated(const uint8_t *text, size_t length, int *fits) {
  char digits[80];
  char exponent_text[80];
  size_t count = 0, exponent_count = 0, i = 0;
  long places = 0, exponent;
  int negative = 0, in_fraction = 0;
  int64_t value = 0;
  BIGNUM *number = NULL, *tens = BN_new(), *power = BN_new();
  BN_CTX *work = BN_CTX_new();
  *fits = 0;
  if (length > 0 && text[0] == '-') {
    negative = 1;
    i = 1;
  }
  for (; i < length && (text[i] | 0x20) != 'e' && count < 70; i++) {
    if (text[i] == '.') {
      in_fraction = 1;
    } else {
      digits[count++] = (char)text[i];
      places += in_fraction;
    }
  }
  digits[count] = 0;
  if (i < length) i++;
  for (; i < length && exponent_count < 70; i++)
    exponent_text[exponent_count++] = (char)text[i];
  exponent_text[exponent_count] = 0;
  exponent = exponent_count ? strtol(exponent_text, NULL, 10) : 0;
  if (exponent > 400) exponent = 400;
  if (exponent < -400) exponent = -400;
  exponent -= places;
  if (tens != NULL && power != NULL && work != NULL &&
      BN_dec2bn(&number, digits) && BN_set_word(tens, 10) &&
      BN_set_word(power, (BN_ULONG)labs(exponent)) &&
      BN_exp(tens, tens, power, work) &&
      (exponent >= 0 ? BN_mul(number, number, tens, work)
                     : BN_div(number, NULL, number, tens, work)) &&
      BN_num_bits(number) <= 64) {
    uint64_t size = BN_get_word(number);
    if (size <= (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
      *fits = 1;
      value = negative ? (int64_t)(0 - size) : (int64_t)size;
    }
  }
  BN_free(number);
  BN_free(tens);
  BN_free(power);
  BN_CTX_free(work);
  ERR_clear_error();
  return value;
}

/* ---- dates of purchases ---------------------------------------------------------- */

int reference_is_in_force(int64_t expires, int64_t grace, int64_t revoked,
                          int64_t now) {
  if (revoked != INT64_MIN) return 0;
  if (expires == INT64_MAX) return 1;
  return (expires != INT64_MIN && now < expires) ||
         (grace != INT64_MIN && now < grace);
}
