/*
 * work.c - calls on Node's thread pool, whose results are promises.
 */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

struct work {
  struct call call;
  struct arena arena; /* its own: the call outlives the function that began it */
  napi_async_work work;
  napi_deferred deferred;
  bool is_done;
};

static void work_free(struct work *work) {
  call_leave(&work->call);
  free(work->arena.data);
  free(work);
}

static void execute(napi_env env, void *data) {
  struct work *work = data;
  (void)env;
  perform(&work->call);
  work->is_done = true;
}

/* Returns the list of status and document with which the promise is fulfilled. */
static napi_value outcome(napi_env env, struct work *work) {
  napi_value list, status, document = call_result(env, &work->call);
  if (document == NULL) return NULL;
  TRY(napi_create_int32(env, work->call.status, &status));
  TRY(napi_create_array_with_length(env, 2, &list));
  TRY(napi_set_element(env, list, 0, status));
  TRY(napi_set_element(env, list, 1, document));
  return list;
}

static void complete(napi_env env, napi_status status, void *data) {
  struct work *work = data;
  napi_value result = NULL, text;
  if (work->is_done && status == napi_ok) result = outcome(env, work);
  if (napi_delete_async_work(env, work->work) != napi_ok) work->work = NULL;
  if (result != NULL) {
    if (napi_resolve_deferred(env, work->deferred, result) != napi_ok) result = NULL;
  } else {
    /* The exception of a failed call is the reason; an environment that ends has no promise. */
    if (napi_get_and_clear_last_exception(env, &text) == napi_ok &&
        napi_reject_deferred(env, work->deferred, text) != napi_ok)
      result = NULL;
  }
  work_free(work);
}

static napi_value queue(napi_env env, struct work *work) {
  napi_value name, promise;
  TRY(napi_create_string_utf8(env, "assay", NAPI_AUTO_LENGTH, &name));
  TRY(napi_create_promise(env, &work->deferred, &promise));
  TRY(napi_create_async_work(env, NULL, name, execute, complete, work, &work->work));
  if (FAILS(napi_queue_async_work(env, work->work))) {
    if (napi_delete_async_work(env, work->work) != napi_ok) work->work = NULL;
    return fail(env);
  }
  return promise;
}

/* Takes what `run` takes; returns a promise of status and document. */
napi_value start(napi_env env, napi_callback_info info) {
  struct environment *environment = environment_of(env);
  struct work *work;
  napi_value values[8], promise;
  size_t count = 8;
  uint32_t number;
  if (environment == NULL || !environment->is_open) return fail(env);
  TRY(napi_get_cb_info(env, info, &count, values, NULL, NULL));
  TRY(napi_get_value_uint32(env, values[0], &number));
  if (number >= OPERATION_COUNT || OPERATIONS[number].makes != 0) return fail(env);
  work = calloc(1, sizeof *work);
  if (work == NULL) return fail_with(env, "out of memory");
  work->call.operation = &OPERATIONS[number];
  work->call.environment = environment;
  work->call.arena = &work->arena;
  promise = call_read(env, &work->call, count - 1, values + 1) ? queue(env, work) : fail(env);
  if (promise == NULL) work_free(work);
  return promise;
}
