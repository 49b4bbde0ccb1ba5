#include "receipts.h"

#include <openssl/asn1.h>
#include <openssl/cms.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- lists ------------------------------------------------------------------- */

typedef struct {
  const uint8_t *text;
  size_t length;
  size_t at;
  uint8_t *out;
  size_t written;
} list_reader;

static int peek(const list_reader *r) {
  return r->at < r->length ? r->text[r->at] : -1;
}

static int looking_at(const list_reader *r, const char *text) {
  size_t count = strlen(text);
  return r->length - r->at >= count && !memcmp(r->text + r->at, text, count);
}

static void skip_space(list_reader *r) {
  for (;;) {
    int c = peek(r);
    if (c == ' ' || (c >= '\t' && c <= '\r'))
      r->at += 1;
    else if (looking_at(r, "\xe2\x80\xa8") || looking_at(r, "\xe2\x80\xa9"))
      r->at += 3;
    else
      return;
  }
}

static int hex_value(int c) {
  const char *digits = "0123456789abcdef";
  const char *found;
  if (c <= 0) return -1;
  if (c >= 'A' && c <= 'F') c += 'a' - 'A';
  found = strchr(digits, c);
  return found ? (int)(found - digits) : -1;
}

static void put_unit(list_reader *r, int unit) {
  if (unit < 0x80) {
    r->out[r->written++] = (uint8_t)unit;
  } else if (unit < 0x800) {
    r->out[r->written++] = (uint8_t)(0xc0 | unit >> 6);
    r->out[r->written++] = (uint8_t)(0x80 | (unit & 63));
  } else {
    r->out[r->written++] = (uint8_t)(0xe0 | unit >> 12);
    r->out[r->written++] = (uint8_t)(0x80 | (unit >> 6 & 63));
    r->out[r->written++] = (uint8_t)(0x80 | (unit & 63));
  }
}

/* Reads what follows a backslash. Returns 0 if it is not a known escape. */
static int read_escape(list_reader *r) {
  static const char letters[] = "abfnrtv\"'\\\n";
  static const char meant[] = "\a\b\f\n\r\t\v\"'\\\n";
  int c = peek(r);
  int value = 0, digits;
  const char *found;
  if (c < 0) return 0;
  r->at += 1;
  if (c >= '0' && c <= '7') {
    value = c - '0';
    for (digits = 1; digits < 3 && peek(r) >= '0' && peek(r) <= '7'; digits++)
      value = value * 8 + (r->text[r->at++] - '0');
    if (value == 0 || value > 127) return 0;
    put_unit(r, value);
    return 1;
  }
  if (c == 'U') {
    for (digits = 0; digits < 4; digits++) {
      int digit = hex_value(peek(r));
      if (digit < 0) return 0;
      value = value * 16 + digit;
      r->at += 1;
    }
    if (value == 0 || (value >= 0xd800 && value <= 0xdfff)) return 0;
    put_unit(r, value);
    return 1;
  }
  found = c ? strchr(letters, c) : NULL;
  if (found == NULL) return 0;
  put_unit(r, meant[found - letters]);
  return 1;
}

static int is_bare_char(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c > 0 && strchr("_$/:.-", c) != NULL);
}

/* Reads a string. Returns 0 if there is none, or one longer than the cap. */
static int read_string(list_reader *r, size_t cap, size_t *start,
                       size_t *length, int *is_bare) {
  int quote = peek(r);
  *start = r->written;
  *is_bare = quote != '"' && quote != '\'';
  if (*is_bare) {
    if (looking_at(r, "//") || looking_at(r, "/*")) return 0;
    while (is_bare_char(peek(r))) r->out[r->written++] = r->text[r->at++];
    *length = r->written - *start;
    return *length > 0 && *length <= cap;
  }
  r->at += 1;
  for (;;) {
    int c = peek(r);
    if (c < 0) return 0;
    r->at += 1;
    if (c == quote) break;
    if (c != '\\')
      r->out[r->written++] = (uint8_t)c;
    else if (!read_escape(r))
      return 0;
  }
  *length = r->written - *start;
  return *length <= cap;
}

static int is_known(const list_reader *r, const reference_pair *pairs,
                    int count, const reference_pair *pair) {
  int i;
  for (i = 0; i < count; i++)
    if (pairs[i].key_length == pair->key_length &&
        !memcmp(r->out + pairs[i].key, r->out + pair->key, pair->key_length))
      return 1;
  return 0;
}

int reference_list(const uint8_t *text, size_t length, size_t value_cap,
                   uint8_t *out, reference_pair pairs[REFERENCE_PAIRS]) {
  list_reader r = {text, length, 0, out, 0};
  int count = 0;
  skip_space(&r);
  if (peek(&r) != '{') return -1;
  r.at += 1;
  skip_space(&r);
  while (peek(&r) != '}') {
    reference_pair pair;
    int key_is_bare;
    if (count == REFERENCE_PAIRS) return -1;
    if (!read_string(&r, 64, &pair.key, &pair.key_length, &key_is_bare))
      return -1;
    if (is_known(&r, pairs, count, &pair)) return -1;
    skip_space(&r);
    if (peek(&r) != '=') return -1;
    r.at += 1;
    skip_space(&r);
    if (!read_string(&r, value_cap, &pair.value, &pair.value_length,
                     &pair.is_bare))
      return -1;
    skip_space(&r);
    if (peek(&r) != ';') return -1;
    r.at += 1;
    skip_space(&r);
    pairs[count++] = pair;
  }
  r.at += 1;
  skip_space(&r);
  return r.at == length ? count : -1;
}

/* ---- base64 -------------------------------------------------------------------- */

long reference_tolerant_base64(const uint8_t *text, size_t length,
                               uint8_t *out) {
  static const char plain[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  unsigned char *clean = malloc(length + 8);
  unsigned char *again = malloc(length * 2 + 16);
  unsigned char *bytes = malloc(length + 8);
  size_t digits = 0, padding = 0, i;
  int is_standard = 0, is_url = 0, good = 1, missing;
  long count = -1;
  for (i = 0; good && i < length; i++) {
    int c = text[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == '=') {
      padding += 1;
      continue;
    }
    if (padding > 0) good = 0;
    if (c == '+' || c == '/')
      is_standard = 1;
    else if (c == '-' || c == '_')
      is_url = 1;
    else if (c == 0 || strchr(plain, c) == NULL)
      good = 0;
    clean[digits++] = (unsigned char)(c == '-' ? '+' : c == '_' ? '/' : c);
  }
  missing = (int)((4 - digits % 4) % 4);
  if (missing == 3 || padding > (size_t)missing) good = 0;
  if (good && !(is_standard && is_url)) {
    size_t whole = digits;
    for (i = 0; i < (size_t)missing; i++) clean[whole++] = '=';
    count = EVP_DecodeBlock(bytes, clean, (int)whole);
    if (count >= 0) {
      count -= missing;
      memcpy(out, bytes, (size_t)count);
      /* The unused bits are zero if encoding gives the same digits again. */
      if (EVP_EncodeBlock(again, bytes, (int)count) != (int)whole ||
          memcmp(again, clean, whole) != 0)
        count = -1;
    }
  }
  free(clean);
  free(again);
  free(bytes);
  ERR_clear_error();
  return count;
}

/* ---- BER ------------------------------------------------------------------------- */

typedef struct {
  const uint8_t *ber;
  long budget;
  int depth;
} ber_reader;

static int is_sound(int tag, int parent) {
  static const int constructed[] = {0x30, 0x31, 0x24};
  size_t i;
  if (parent == 0x24) return tag == 0x04;
  if (tag >= 0x40) return 1;
  for (i = 0; i < sizeof constructed / sizeof constructed[0]; i++)
    if (tag == constructed[i]) return 1;
  return tag != 0x00 && tag != 0x10 && tag != 0x11 && !(tag & 0x20);
}

/* Returns the end of the element at `at`, which must be before `end`, or 0. */
static size_t read_element(ber_reader *r, size_t at, size_t end, int parent,
                           int depth) {
  int tag, first, octets, i;
  size_t length = 0;
  if (end - at < 2) return 0;
  tag = r->ber[at];
  first = r->ber[at + 1];
  at += 2;
  if ((tag & 0x1f) == 0x1f || !is_sound(tag, parent)) return 0;
  if (r->budget-- <= 0 || depth > r->depth) return 0;
  if (first == 0x80) {
    if (!(tag & 0x20)) return 0;
    for (;;) {
      if (end - at < 2) return 0;
      if (r->ber[at] == 0 && r->ber[at + 1] == 0) return at + 2;
      at = read_element(r, at, end, tag, depth + 1);
      if (at == 0) return 0;
    }
  }
  if (first < 0x80) {
    length = (size_t)first;
  } else {
    octets = first & 0x7f;
    if (octets > 4 || end - at < (size_t)octets) return 0;
    if (r->ber[at] == 0) return 0;
    for (i = 0; i < octets; i++) length = length << 8 | r->ber[at++];
    if (length < 0x80) return 0;
  }
  if (length > end - at) return 0;
  end = at + length;
  if (!(tag & 0x20)) return end;
  while (at < end) {
    at = read_element(r, at, end, tag, depth + 1);
    if (at == 0) return 0;
  }
  return at;
}

long reference_ber_elements(const uint8_t *ber, size_t length, long elements,
                            int depth) {
  ber_reader r = {ber, elements, depth};
  return read_element(&r, 0, length, 0, 1) == length && length > 0
             ? elements - r.budget
             : -1;
}

/* ---- containers -------------------------------------------------------------------- */

struct reference_message {
  CMS_ContentInfo *cms;
  CMS_SignerInfo *signer;
};

reference_message *reference_message_read(const uint8_t *der, size_t length) {
  const unsigned char *at = der;
  CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &at, (long)length);
  reference_message *message = NULL;
  STACK_OF(CMS_SignerInfo) *signers = NULL;
  ASN1_OCTET_STRING **payload = NULL;
  if (cms != NULL && at == der + length &&
      OBJ_obj2nid(CMS_get0_type(cms)) == NID_pkcs7_signed) {
    signers = CMS_get0_SignerInfos(cms);
    payload = CMS_get0_content(cms);
  }
  if (payload != NULL && *payload != NULL && signers != NULL &&
      sk_CMS_SignerInfo_num(signers) == 1) {
    message = malloc(sizeof *message);
    message->cms = cms;
    message->signer = sk_CMS_SignerInfo_value(signers, 0);
  } else {
    CMS_ContentInfo_free(cms);
  }
  ERR_clear_error();
  return message;
}

void reference_message_free(reference_message *message) {
  if (message == NULL) return;
  CMS_ContentInfo_free(message->cms);
  free(message);
}

static long give(const unsigned char *octets, long length, uint8_t *out,
                 size_t room) {
  if (length < 0 || (size_t)length > room) return -1;
  if (length > 0) memcpy(out, octets, (size_t)length);
  return length;
}

static long give_string(const ASN1_STRING *string, uint8_t *out, size_t room) {
  return give(ASN1_STRING_get0_data(string), ASN1_STRING_length(string), out,
              room);
}

static long give_content(unsigned char *der, int length, uint8_t *out,
                         size_t room) {
  const unsigned char *at = der;
  long content = 0, count = -1;
  int tag, class;
  if (length > 0 &&
      !(ASN1_get_object(&at, &content, &tag, &class, length) & 0x80))
    count = give(at, content, out, room);
  OPENSSL_free(der);
  return count;
}

long reference_message_part(const reference_message *message, int part,
                            uint8_t *out, size_t room) {
  X509_ALGOR *digest = NULL, *algorithm = NULL;
  const ASN1_OBJECT *object = NULL;
  ASN1_OCTET_STRING *key_id = NULL;
  X509_NAME *issuer = NULL;
  ASN1_INTEGER *serial = NULL;
  unsigned char *der = NULL;
  int length;
  long count;
  switch (part) {
  case REFERENCE_PAYLOAD:
    return give_string(*CMS_get0_content(message->cms), out, room);
  case REFERENCE_SIGNATURE:
    return give_string(CMS_SignerInfo_get0_signature(message->signer), out,
                       room);
  case REFERENCE_SIGNER_DIGEST:
  case REFERENCE_SIGNER_ALGORITHM:
    CMS_SignerInfo_get0_algs(message->signer, NULL, NULL, &digest, &algorithm);
    X509_ALGOR_get0(&object, NULL, NULL,
                    part == REFERENCE_SIGNER_DIGEST ? digest : algorithm);
    length = i2d_ASN1_OBJECT(object, &der);
    return give_content(der, length, out, room);
  default:
    if (!CMS_SignerInfo_get0_signer_id(message->signer, &key_id, &issuer,
                                       &serial) ||
        issuer == NULL || serial == NULL) {
      ERR_clear_error();
      return -1;
    }
    if (part == REFERENCE_SIGNER_SERIAL) {
      length = i2d_ASN1_INTEGER(serial, &der);
      return give_content(der, length, out, room);
    }
    length = i2d_X509_NAME(issuer, &der);
    count = give(der, length, out, room);
    OPENSSL_free(der);
    return count;
  }
}

int reference_message_certificates(const reference_message *message) {
  STACK_OF(X509) *found = CMS_get1_certs(message->cms);
  int count = found == NULL ? 0 : sk_X509_num(found);
  sk_X509_pop_free(found, X509_free);
  ERR_clear_error();
  return count;
}

/* ---- attributes ---------------------------------------------------------------------- */

/* Enters a definite element of that tag at *at, which ends before `to`: moves
 * past its head. Returns the length of its content, or -1. */
static long enter(const uint8_t *octets, size_t *at, size_t to, int wanted) {
  const unsigned char *p = octets + *at;
  long length = 0;
  int tag, class, form;
  if (*at >= to) return -1;
  form = ASN1_get_object(&p, &length, &tag, &class, (long)(to - *at));
  ERR_clear_error();
  if ((form & 0x81) || class != V_ASN1_UNIVERSAL || tag != wanted) return -1;
  *at = (size_t)(p - octets);
  return length;
}

int reference_number(const uint8_t *octets, size_t from, size_t to,
                     uint64_t *number) {
  const unsigned char *at = octets + from;
  ASN1_INTEGER *integer = d2i_ASN1_INTEGER(NULL, &at, (long)(to - from));
  int good = integer != NULL && at == octets + to &&
             ASN1_INTEGER_get_uint64(number, integer);
  ASN1_INTEGER_free(integer);
  ERR_clear_error();
  return good;
}

long reference_attributes(const uint8_t *octets, size_t from, size_t to,
                          reference_attribute *out, size_t room) {
  size_t at = from;
  long length = enter(octets, &at, to, V_ASN1_SET);
  long count = 0;
  if (length < 0 || at + (size_t)length != to) return -1;
  while (at < to) {
    reference_attribute attribute;
    size_t end, start;
    length = enter(octets, &at, to, V_ASN1_SEQUENCE);
    if (length < 0 || (size_t)count == room) return -1;
    end = at + (size_t)length;
    start = at;
    length = enter(octets, &at, end, V_ASN1_INTEGER);
    if (length < 0) return -1;
    at += (size_t)length;
    if (!reference_number(octets, start, at, &attribute.type)) return -1;
    length = enter(octets, &at, end, V_ASN1_INTEGER);
    if (length < 0) return -1;
    at += (size_t)length;
    length = enter(octets, &at, end, V_ASN1_OCTET_STRING);
    if (length < 0 || at + (size_t)length != end) return -1;
    attribute.value = at;
    attribute.length = (size_t)length;
    out[count++] = attribute;
    at = end;
  }
  return count;
}

long reference_string(const uint8_t *octets, size_t from, size_t to, int tag,
                      size_t *length) {
  size_t at = from;
  long count = enter(octets, &at, to, tag);
  if (count < 0 || at + (size_t)count != to) return -1;
  *length = (size_t)count;
  return (long)at;
}

/* ---- dates ------------------------------------------------------------------------------ */

/* Reads this many digits at text[*at]. Returns -1 if there are fewer. */
static int number(const uint8_t *text, size_t length, size_t *at, int digits) {
  int value = 0;
  while (digits-- > 0) {
    if (*at >= length || text[*at] < '0' || text[*at] > '9') return -1;
    value = value * 10 + (text[(*at)++] - '0');
  }
  return value;
}

static int sign(const uint8_t *text, size_t length, size_t *at, int wanted) {
  if (*at >= length || text[*at] != wanted) return 0;
  *at += 1;
  return 1;
}

/* Reads nineteen characters of a date and a time. Returns the seconds as if UTC. */
static int64_t moment(const uint8_t *text, size_t length, size_t *at,
                      int between) {
  struct tm parts, again;
  time_t seconds;
  memset(&parts, 0, sizeof parts);
  parts.tm_year = number(text, length, at, 4) - 1900;
  if (!sign(text, length, at, '-')) return INT64_MIN;
  parts.tm_mon = number(text, length, at, 2) - 1;
  if (!sign(text, length, at, '-')) return INT64_MIN;
  parts.tm_mday = number(text, length, at, 2);
  if (!sign(text, length, at, between)) return INT64_MIN;
  parts.tm_hour = number(text, length, at, 2);
  if (!sign(text, length, at, ':')) return INT64_MIN;
  parts.tm_min = number(text, length, at, 2);
  if (!sign(text, length, at, ':')) return INT64_MIN;
  parts.tm_sec = number(text, length, at, 2);
  if (parts.tm_year < -1900 || parts.tm_mon < 0 || parts.tm_mday < 0 ||
      parts.tm_hour < 0 || parts.tm_min < 0 || parts.tm_sec < 0)
    return INT64_MIN;
  again = parts;
  seconds = timegm(&again);
  /* A date that does not exist is normalized to another one. */
  if (again.tm_year != parts.tm_year || again.tm_mon != parts.tm_mon ||
      again.tm_mday != parts.tm_mday || again.tm_hour != parts.tm_hour ||
      again.tm_min != parts.tm_min || again.tm_sec != parts.tm_sec)
    return INT64_MIN;
  return (int64_t)seconds;
}

int64_t reference_iso_date(const uint8_t *text, size_t length) {
  size_t at = 0;
  int64_t seconds = moment(text, length, &at, 'T');
  int64_t fraction = 0;
  int weight = 100, hours, minutes, is_west;
  if (seconds == INT64_MIN) return INT64_MIN;
  if (sign(text, length, &at, '.')) {
    int digit = number(text, length, &at, 1);
    if (digit < 0) return INT64_MIN;
    for (; digit >= 0 && weight > 0; weight /= 10) {
      fraction += (int64_t)digit * weight;
      if (weight == 1) break;
      digit = number(text, length, &at, 1);
    }
  }
  if (!sign(text, length, &at, 'Z')) {
    is_west = sign(text, length, &at, '-');
    if (!is_west && !sign(text, length, &at, '+')) return INT64_MIN;
    hours = number(text, length, &at, 2);
    sign(text, length, &at, ':');
    minutes = number(text, length, &at, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
      return INT64_MIN;
    seconds += (is_west ? 1 : -1) * (int64_t)(hours * 3600 + minutes * 60);
  }
  return at == length ? seconds * 1000 + fraction : INT64_MIN;
}

int64_t reference_zone_date(const uint8_t *text, size_t length,
                            const char *zone) {
  size_t at = 0;
  int64_t seconds = moment(text, length, &at, ' ');
  if (seconds == INT64_MIN || !sign(text, length, &at, ' ')) return INT64_MIN;
  return length - at == strlen(zone) && !memcmp(text + at, zone, length - at)
             ? seconds
             : INT64_MIN;
}
