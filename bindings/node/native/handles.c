/*
 * handles.c - objects of the library, held by objects of JavaScript.
 *
 * Verifiers, key sets and exchanges are few: a finalizer frees them. Node runs finalizers only
 * between turns of its event loop, and documents are made by the thousand in one turn. So a
 * document is held by a weak reference, and calls that make one look at three earlier ones and
 * free those whose object is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

enum { MARK = 0x41535359, LOOKS = 3, REPORTED = 1 << 20 };

struct environment *environment_of(napi_env env) {
  void *data = NULL;
  return FAILS(napi_get_instance_data(env, &data)) ? NULL : data;
}

void environment_release(struct environment *environment) {
  if (--environment->users > 0) return;
  arena_wipe(&environment->arena);
  free(environment->arena.data);
  free(environment->documents);
  free(environment);
}

static void object_free(struct handle *handle) {
  struct library *library = &handle->environment->library;
  void *object = handle->object;
  handle->object = NULL;
  if (object == NULL) return;
  switch (handle->kind) {
    case VERIFIER: library->assay_verifier_free(object); break;
    case KEYSET: library->assay_keyset_free(object); break;
    case EXCHANGE: library->assay_exchange_free(object); break;
    case DOCUMENT:
      library->assay_doc_free(object);
      handle->environment->unreported -= (int64_t)handle->bytes;
      break;
  }
}

static void handle_free(struct handle *handle) {
  struct environment *environment = handle->environment;
  object_free(handle);
  handle->mark = 0;
  free(handle);
  environment_release(environment);
}

/* Ends a use by a call; what was closed or lost meanwhile is freed now. */
void handle_leave(struct handle *handle) {
  if (--handle->uses > 0) return;
  if (handle->is_closed) object_free(handle);
  if (handle->is_lost) handle_free(handle);
}

static void finalize(napi_env env, void *data, void *hint) {
  struct handle *handle = data;
  (void)env;
  (void)hint;
  handle->is_lost = true;
  if (handle->uses == 0) handle_free(handle);
}

/* Frees a document whose object is gone, or leaves it. Returns whether it went. */
static bool document_sweep(napi_env env, struct environment *environment, size_t at) {
  struct handle *handle = environment->documents[at];
  napi_value object = NULL;
  if (handle->uses > 0 || FAILS(napi_get_reference_value(env, handle->reference, &object)) ||
      object != NULL)
    return false;
  if (napi_delete_reference(env, handle->reference) != napi_ok) return false;
  environment->documents[at] = environment->documents[--environment->document_count];
  handle_free(handle);
  return true;
}

static void documents_look(napi_env env, struct environment *environment) {
  int looks = LOOKS;
  int64_t result;
  while (looks-- > 0 && environment->document_count > 0) {
    if (environment->swept >= environment->document_count) environment->swept = 0;
    if (!document_sweep(env, environment, environment->swept)) environment->swept++;
  }
  if (llabs(environment->unreported) < REPORTED) return;
  if (napi_adjust_external_memory(env, environment->unreported, &result) == napi_ok)
    environment->unreported = 0;
}

/* Frees all documents whose objects are gone; for tests, which then count what is left. */
napi_value collect(napi_env env, napi_callback_info info) {
  struct environment *environment = environment_of(env);
  napi_value value;
  size_t at = 0;
  (void)info;
  if (environment == NULL) return fail(env);
  while (at < environment->document_count)
    if (!document_sweep(env, environment, at)) at++;
  TRY(napi_create_uint32(env, (uint32_t)environment->document_count, &value));
  return value;
}

/* Runs when the environment ends, after all calls on the thread pool and before finalizers. */
void environment_end(void *data) {
  struct environment *environment = data;
  while (environment->document_count > 0) {
    struct handle *handle = environment->documents[--environment->document_count];
    if (napi_delete_reference(environment->env, handle->reference) != napi_ok)
      handle->reference = NULL;
    finalize(environment->env, handle, NULL);
  }
  environment_release(environment);
}

static bool document_keep(struct environment *environment, struct handle *handle) {
  if (environment->document_count == environment->document_room) {
    size_t room = environment->document_room ? environment->document_room * 2 : 64;
    struct handle **more = realloc(environment->documents, room * sizeof *more);
    if (more == NULL) return false;
    environment->documents = more;
    environment->document_room = room;
  }
  environment->documents[environment->document_count++] = handle;
  return true;
}

/* Returns an object that owns what the library made; what cannot be owned is freed. */
napi_value handle_new(napi_env env, struct environment *environment, enum kind kind, void *object) {
  struct handle *handle = calloc(1, sizeof *handle);
  napi_value value = NULL;
  size_t length = 0;
  if (handle == NULL) abort(); /* as the library does */
  handle->mark = MARK;
  handle->kind = kind;
  handle->environment = environment;
  handle->object = object;
  environment->users++;
  if (kind == DOCUMENT) {
    environment->library.assay_doc_json(object, &length);
    handle->bytes = length * 5; /* with the facts behind it, as measured */
    environment->unreported += (int64_t)handle->bytes;
    documents_look(env, environment);
  }
  if (FAILS(napi_create_external(env, handle, kind == DOCUMENT ? NULL : finalize, NULL, &value))) {
    handle_free(handle);
    return fail(env);
  }
  if (kind != DOCUMENT) return value;
  if (FAILS(napi_create_reference(env, value, 0, &handle->reference))) {
    handle_free(handle);
    return fail(env);
  }
  if (!document_keep(environment, handle)) abort();
  return value;
}

/* Returns the handle inside a value, if it is of this kind and open. */
struct handle *handle_of(napi_env env, napi_value value, enum kind kind) {
  void *data = NULL;
  struct handle *handle;
  if (FAILS(napi_get_value_external(env, value, &data)) || data == NULL) return NULL;
  handle = data;
  return handle->mark == MARK && handle->kind == kind && handle->object != NULL &&
                 !handle->is_closed
             ? handle
             : NULL;
}

/* Takes a handle of any kind; it is freed now, or when the last call with it ends. */
napi_value close_handle(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value value;
  void *data = NULL;
  struct handle *handle;
  TRY(napi_get_cb_info(env, info, &count, &value, NULL, NULL));
  TRY(napi_get_value_external(env, value, &data));
  handle = data;
  if (handle == NULL || handle->mark != MARK) return fail(env);
  handle->is_closed = true;
  if (handle->uses == 0) object_free(handle);
  return NULL;
}
