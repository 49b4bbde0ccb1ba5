/*
 * values.c - texts and numbers, from JavaScript and to it.
 */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

enum { FIRST_ROOM = 16 << 10, KEPT_ROOM = 1 << 20 };

/* Throws, unless an exception is on its way; an environment that ends has no other answer. */
napi_value fail_with(napi_env env, const char *text) {
  bool is_pending = false;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending &&
      napi_throw_error(env, "ERR_ASSAY_ADDON", text) != napi_ok)
    return NULL;
  return NULL;
}

napi_value fail(napi_env env) {
  return fail_with(env, "assay: an argument of the addon has another type, or Node is ending");
}

static bool arena_reserve(struct arena *arena, size_t room) {
  size_t size = arena->size ? arena->size : FIRST_ROOM;
  char *data;
  if (arena->data != NULL && arena->size - arena->used >= room) return true;
  while (size - arena->used < room) size *= 2;
  data = malloc(size);
  if (data == NULL) return false;
  if (arena->data != NULL) {
    memcpy(data, arena->data, arena->used);
    explicit_bzero(arena->data, arena->used);
    free(arena->data);
  }
  arena->data = data;
  arena->size = size;
  return true;
}

/* Texts and bytes may be tokens, bodies with secrets, or receipts: nothing stays. */
void arena_wipe(struct arena *arena) {
  if (arena->data != NULL) explicit_bzero(arena->data, arena->used);
  arena->used = 0;
  if (arena->size > KEPT_ROOM) {
    free(arena->data);
    arena->data = NULL;
    arena->size = 0;
  }
}

static bool arena_string(napi_env env, struct arena *arena, napi_value value, size_t *length) {
  size_t room;
  if (!arena_reserve(arena, 4096)) return false;
  room = arena->size - arena->used;
  if (FAILS(napi_get_value_string_utf8(env, value, arena->data + arena->used, room, length)))
    return false;
  if (*length + 4 < room) return true;
  /* It may have been cut: a character takes up to four bytes. */
  explicit_bzero(arena->data + arena->used, room);
  if (FAILS(napi_get_value_string_utf8(env, value, NULL, 0, length)) ||
      !arena_reserve(arena, *length + 1))
    return false;
  return !FAILS(napi_get_value_string_utf8(env, value, arena->data + arena->used, *length + 1,
                                           length));
}

/* Copies a string as UTF-8, or the bytes of an Uint8Array, which another thread may share. */
bool arena_text(napi_env env, struct arena *arena, napi_value value, struct slice *out) {
  napi_valuetype type;
  napi_typedarray_type array;
  size_t length = 0;
  void *data = NULL;
  if (FAILS(napi_typeof(env, value, &type))) return false;
  out->offset = arena->used;
  out->length = 0;
  out->is_null = type == napi_null || type == napi_undefined;
  if (out->is_null) return true;
  if (type == napi_string) {
    if (!arena_string(env, arena, value, &length)) return false;
  } else {
    if (FAILS(napi_get_typedarray_info(env, value, &array, &length, &data, NULL, NULL)) ||
        array != napi_uint8_array || !arena_reserve(arena, length + 1))
      return false;
    if (length > 0) memcpy(arena->data + arena->used, data, length);
  }
  out->length = length;
  arena->used += length;
  return true;
}

/* Numbers beyond 64 bits become the nearest that fits, which the library refuses; a date that is
 * undefined does not exist. */
bool number_of(napi_env env, napi_value value, bool is_date, int64_t *out) {
  napi_valuetype type;
  double number;
  if (FAILS(napi_typeof(env, value, &type))) return false;
  *out = ASSAY_NO_DATE;
  if (is_date && type == napi_undefined) return true;
  if (FAILS(napi_get_value_double(env, value, &number)) || number != number) return false;
  if (number >= 9223372036854775808.0)
    *out = INT64_MAX;
  else if (number < -9223372036854775808.0)
    *out = INT64_MIN;
  else
    *out = (int64_t)number;
  return true;
}

napi_value text_value(napi_env env, const char *text, size_t length) {
  napi_value value = NULL;
  TRY(napi_create_string_utf8(env, text, length, &value));
  return value;
}
