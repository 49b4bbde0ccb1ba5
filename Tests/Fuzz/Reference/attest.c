#include "attest.h"

#include <string.h>

typedef struct {
  const uint8_t *octets;
  size_t length;
  reference_cbor_item *items;
  long count;
} cbor_reader;

/* Returns whether a text is UTF-8: no overlong forms, no surrogates, nothing past
 * U+10FFFF (RFC 3629). */
static int is_utf8(const uint8_t *text, size_t length) {
  size_t at = 0;
  while (at < length) {
    uint32_t unit = text[at];
    size_t more = unit < 0x80 ? 0 : unit < 0xe0 ? 1 : unit < 0xf0 ? 2 : 3;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    size_t n;
    if (unit >= 0x80 && unit < 0xc2) return 0;
    if (unit > 0xf4 || length - at <= more) return 0;
    if (more > 0) unit &= 0x3fu >> more;
    for (n = 1; n <= more; n++) {
      if ((text[at + n] & 0xc0) != 0x80) return 0;
      unit = unit << 6 | (text[at + n] & 0x3f);
    }
    if (unit < least[more] || unit > 0x10ffff) return 0;
    if (unit >= 0xd800 && unit <= 0xdfff) return 0;
    at += more + 1;
  }
  return 1;
}

/* Reads the head at *at. Returns 0 if it is outside of the subset. */
static int read_head(const cbor_reader *r, size_t *at, int *major,
                     uint64_t *argument) {
  int low;
  size_t octets, n;
  if (*at >= r->length) return 0;
  *major = r->octets[*at] >> 5;
  low = r->octets[*at] & 31;
  *at += 1;
  *argument = (uint64_t)low;
  if (*major > 5 || low > 27) return 0;
  if (low < 24) return 1;
  octets = (size_t)1 << (low - 24);
  if (r->length - *at < octets) return 0;
  *argument = 0;
  for (n = 0; n < octets; n++) *argument = *argument << 8 | r->octets[(*at)++];
  if (octets == 1) return *argument >= 24;
  return *argument >> (octets * 4) != 0;
}

static int same_item(const cbor_reader *r, const reference_cbor_item *a,
                     const reference_cbor_item *b) {
  return a->end - a->start == b->end - b->start &&
         !memcmp(r->octets + a->start, r->octets + b->start, a->end - a->start);
}

/* Returns the end of the item at `at`, or 0 if there is none. */
static size_t read_item(cbor_reader *r, size_t at, int depth) {
  reference_cbor_item item = {0};
  reference_cbor_item keys[REFERENCE_CBOR_ITEMS];
  long place = r->count;
  size_t known = 0;
  uint64_t n;
  if (place >= REFERENCE_CBOR_ITEMS) return 0;
  item.start = at;
  if (!read_head(r, &at, &item.major, &item.argument)) return 0;
  item.content = at;
  r->count += 1;
  if (item.major == 2 || item.major == 3) {
    if (item.argument > r->length - at) return 0;
    if (item.major == 3 && !is_utf8(r->octets + at, (size_t)item.argument))
      return 0;
    at += (size_t)item.argument;
  } else if (item.major >= 4) {
    if (depth >= REFERENCE_CBOR_DEPTH) return 0;
    for (n = 0; n < item.argument; n++) {
      if (item.major == 5) {
        long key = r->count;
        size_t other;
        at = read_item(r, at, depth + 1);
        if (at == 0 || r->items[key].major >= 4) return 0;
        for (other = 0; other < known; other++)
          if (same_item(r, &keys[other], &r->items[key])) return 0;
        keys[known++] = r->items[key];
      }
      at = read_item(r, at, depth + 1);
      if (at == 0) return 0;
    }
  }
  item.end = at;
  r->items[place] = item;
  return at;
}

long reference_cbor(const uint8_t *octets, size_t length,
                    reference_cbor_item out[REFERENCE_CBOR_ITEMS]) {
  cbor_reader r = {octets, length, out, 0};
  size_t end = length == 0 ? 0 : read_item(&r, 0, 0);
  return end == length && end != 0 ? r.count : -1;
}
