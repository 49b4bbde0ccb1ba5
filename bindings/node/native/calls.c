/*
 * calls.c - the calls of the library: arguments by a table, and their results.
 */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

#define ROW(name, takes, makes, how) {takes, makes},
const struct operation OPERATIONS[] = {ASSAY_OPERATIONS(ROW)};
const size_t OPERATION_COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0];

static const char *text_of(struct call *call, int n) {
  return call->texts[n].is_null ? NULL : call->arena->data + call->texts[n].offset;
}

/* What ASSAY_OPERATIONS passes, from what `call_read` has read. */
#define OWNER call->owner->object
#define KEYS call->keyset->object
#define TEXT(n) text_of(call, n), call->texts[n].length
#define NUMBER(n) call->numbers[n]
#define EVIDENCE call->evidence, call->evidence_count

void perform(struct call *call) {
  struct library *library = &call->environment->library;
#define NUMBERED(name, takes, makes, how) CALL_##name,
  enum { ASSAY_OPERATIONS(NUMBERED) };
#define CASE(name, takes, makes, how) \
  case CALL_##name: call->status = library->how; break;
  switch (call->operation - OPERATIONS) {
    ASSAY_OPERATIONS(CASE)
  }
}

static bool read_evidence(napi_env env, struct call *call, napi_value list) {
  uint32_t count = 0;
  napi_value value;
  if (FAILS(napi_get_array_length(env, list, &count))) return false;
  call->used = calloc((size_t)count + 1, sizeof *call->used);
  call->evidence = calloc((size_t)count + 1, sizeof *call->evidence);
  if (call->used == NULL || call->evidence == NULL) return false;
  for (; call->evidence_count < count; call->evidence_count++) {
    struct handle *handle;
    if (FAILS(napi_get_element(env, list, (uint32_t)call->evidence_count, &value)) ||
        (handle = handle_of(env, value, DOCUMENT)) == NULL)
      return false;
    handle->uses++;
    call->used[call->evidence_count] = handle;
    call->evidence[call->evidence_count] = handle->object;
  }
  return true;
}

/* Reads what an operation takes. What a failed call has taken, call_leave gives back. */
bool call_read(napi_env env, struct call *call, size_t count, napi_value *values) {
  const char *letter = call->operation->takes;
  int texts = 0, numbers = 0;
  size_t at = 0;
  for (; *letter != '\0'; letter++, at++) {
    struct handle **handle = *letter == 'y' ? &call->keyset : &call->owner;
    if (at >= count) return false;
    switch (*letter) {
      case 'v':
      case 'y':
      case 'x':
        *handle = handle_of(env, values[at],
                            *letter == 'v'   ? VERIFIER
                            : *letter == 'y' ? KEYSET
                                             : EXCHANGE);
        if (*handle == NULL) return false;
        (*handle)->uses++;
        break;
      case 't':
        if (!arena_text(env, call->arena, values[at], &call->texts[texts++])) return false;
        break;
      case 'd':
        if (!read_evidence(env, call, values[at])) return false;
        break;
      default:
        if (!number_of(env, values[at], *letter == 'e', &call->numbers[numbers++])) return false;
    }
  }
  return true;
}

void call_leave(struct call *call) {
  size_t i;
  if (call->owner != NULL) handle_leave(call->owner);
  if (call->keyset != NULL) handle_leave(call->keyset);
  for (i = 0; i < call->evidence_count; i++) handle_leave(call->used[i]);
  free(call->used);
  free(call->evidence);
  arena_wipe(call->arena);
}

static void made_free(struct call *call) {
  struct library *library = &call->environment->library;
  if (call->made == NULL) return;
  if (call->operation->makes == VERIFIER) library->assay_verifier_free(call->made);
  if (call->operation->makes == KEYSET) library->assay_keyset_free(call->made);
  if (call->operation->makes == EXCHANGE) library->assay_exchange_free(call->made);
}

/* Returns the document, undefined if there is none; of a call that makes a further object, a list
 * of the document and that object. */
napi_value call_result(napi_env env, struct call *call) {
  napi_value document = NULL, made = NULL, list;
  if (call->document != NULL) {
    document = handle_new(env, call->environment, DOCUMENT, call->document);
    if (document == NULL) {
      made_free(call);
      return NULL;
    }
  }
  if (call->operation->makes == 0) {
    if (document == NULL) TRY(napi_get_undefined(env, &document));
    return document;
  }
  if (call->made != NULL) {
    made = handle_new(env, call->environment, call->operation->makes, call->made);
    if (made == NULL) return NULL;
  }
  TRY(napi_create_array_with_length(env, 2, &list));
  if (document != NULL) TRY(napi_set_element(env, list, 0, document));
  if (made != NULL) TRY(napi_set_element(env, list, 1, made));
  return list;
}

/* Takes the number of an operation and its arguments; the status stands in `status`. */
napi_value run(napi_env env, napi_callback_info info) {
  struct environment *environment = environment_of(env);
  struct call call;
  napi_value values[8];
  size_t count = 8;
  uint32_t number;
  if (environment == NULL || !environment->is_open) return fail(env);
  TRY(napi_get_cb_info(env, info, &count, values, NULL, NULL));
  TRY(napi_get_value_uint32(env, values[0], &number));
  if (number >= OPERATION_COUNT) return fail(env);
  memset(&call, 0, sizeof call);
  call.operation = &OPERATIONS[number];
  call.environment = environment;
  call.arena = &environment->arena;
  if (!call_read(env, &call, count - 1, values + 1)) {
    call_leave(&call);
    return fail(env);
  }
  perform(&call);
  call_leave(&call);
  *environment->status = call.status;
  return call_result(env, &call);
}
