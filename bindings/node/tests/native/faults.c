/*
 * faults.c - makes one call of Node-API fail, in an addon for tests (make check-node-asan).
 */
#include "../../native/addon.h"

/* The call of Node-API after this many ones fails. One thread at a time. */
static long faults_left = -1;

bool fault_is_due(void) { return faults_left >= 0 && faults_left-- == 0; }

napi_value fail_at(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value value;
  int64_t left;
  faults_left = -1;
  TRY(napi_get_cb_info(env, info, &count, &value, NULL, NULL));
  TRY(napi_get_value_int64(env, value, &left));
  faults_left = left;
  return NULL;
}
