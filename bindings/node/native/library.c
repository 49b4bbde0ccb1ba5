/*
 * library.c - loads libassay, and registers the addon.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

static const char *find_functions(void *loaded, struct library *library) {
#define FIND(name)                                          \
  if ((library->name = dlsym(loaded, #name)) == NULL) return #name;
  ASSAY_FUNCTIONS(FIND)
  return NULL;
}

/* Takes the name of a library, and returns what it says of its build; its functions are bound for
 * this environment alone. It is never unloaded, because documents and proven chains of other threads live in it. */
static napi_value open_library(napi_env env, napi_callback_info info) {
  struct environment *environment = environment_of(env);
  struct library library;
  size_t count = 1, length;
  napi_value value;
  const char *missing;
  char text[PATH_MAX + 1];
  void *loaded;
  if (environment == NULL) return fail(env);
  TRY(napi_get_cb_info(env, info, &count, &value, NULL, NULL));
  TRY(napi_get_value_string_utf8(env, value, text, sizeof text, &length));
  if (length >= PATH_MAX) return fail_with(env, "its name is too long");
  loaded = dlopen(text, RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) {
    const char *why = dlerror();
    return fail_with(env, why != NULL ? why : "cannot be loaded");
  }
  missing = find_functions(loaded, &library);
  if (missing != NULL) {
    snprintf(text, sizeof text, "not libassay %s or later: it has no %s", ASSAY_VERSION, missing);
    return fail_with(env, text);
  }
  if (!environment->is_open) {
    environment->library = library;
    environment->is_open = true;
  }
  return text_value(env, library.assay_build_info(), strlen(library.assay_build_info()));
}

/* What a function of a status returns, beside texts: its data is one of these. */
static const char OF_HTTP = 0, OF_NEXT = 0;

/* Takes a status, and for a text ASSAY_STATUS_NAME or its like. */
static napi_value status_of(napi_env env, napi_callback_info info) {
  struct environment *environment = environment_of(env);
  napi_value values[2], value;
  size_t count = 2;
  int32_t code, what;
  const char *text;
  void *asked;
  if (environment == NULL || !environment->is_open) return fail(env);
  TRY(napi_get_cb_info(env, info, &count, values, NULL, &asked));
  TRY(napi_get_value_int32(env, values[0], &code));
  if (asked != NULL) {
    code = asked == &OF_HTTP ? environment->library.assay_status_http(code)
                             : environment->library.assay_status_next(code);
    TRY(napi_create_int32(env, code, &value));
    return value;
  }
  TRY(napi_get_value_int32(env, values[1], &what));
  text = environment->library.assay_status_text(code, what);
  return text == NULL ? NULL : text_value(env, text, strlen(text));
}

/* Takes a document; returns its JSON. */
static napi_value document_text(napi_env env, napi_callback_info info) {
  struct handle *handle;
  size_t count = 1, length = 0;
  napi_value value;
  const char *text;
  TRY(napi_get_cb_info(env, info, &count, &value, NULL, NULL));
  if ((handle = handle_of(env, value, DOCUMENT)) == NULL) return fail(env);
  text = handle->environment->library.assay_doc_json(handle->object, &length);
  return text_value(env, text, length);
}

static napi_value export_status(napi_env env, struct environment *environment) {
  napi_value buffer, array;
  void *data;
  TRY(napi_create_arraybuffer(env, sizeof(int32_t), &data, &buffer));
  TRY(napi_create_typedarray(env, napi_int32_array, 1, buffer, 0, &array));
  TRY(napi_create_reference(env, buffer, 1, &environment->status_array));
  environment->status = data;
  return array;
}

static napi_value fill(napi_env env, napi_value exports, struct environment *environment) {
  static const struct {
    const char *name;
    napi_callback call;
    void *data;
  } functions[] = {
      {"open", open_library, NULL},    {"run", run, NULL},
      {"start", start, NULL},          {"close", close_handle, NULL},
      {"collect", collect, NULL},      {"text", document_text, NULL},
      {"statusText", status_of, NULL}, {"statusHttp", status_of, (void *)&OF_HTTP},
      {"statusNext", status_of, (void *)&OF_NEXT},
#ifdef ASSAY_FAULTS
      {"failAt", fail_at, NULL},
#endif
  };
  napi_value value;
  size_t i;
  for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    TRY(napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call,
                             functions[i].data, &value));
    TRY(napi_set_named_property(env, exports, functions[i].name, value));
  }
  if ((value = export_status(env, environment)) == NULL) return NULL;
  TRY(napi_set_named_property(env, exports, "status", value));
  return exports;
}

NAPI_MODULE_INIT() {
  struct environment *environment = calloc(1, sizeof *environment);
  if (environment == NULL) return fail_with(env, "out of memory");
  environment->users = 1;
  environment->env = env;
  if (FAILS(napi_set_instance_data(env, environment, NULL, NULL)) ||
      FAILS(napi_add_env_cleanup_hook(env, environment_end, environment))) {
    free(environment);
    return fail(env);
  }
  return fill(env, exports, environment);
}
