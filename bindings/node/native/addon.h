/*
 * addon.h - what the parts of the addon share.
 *
 * The addon carries bytes in and documents out. All that it keeps belongs to one
 * environment of Node (the main thread, or one worker); nothing is static.
 */
#ifndef ASSAY_ADDON_H
#define ASSAY_ADDON_H

#define NAPI_VERSION 8
/* Makes the compiler complain about a status of Node-API that nobody looks at. */
#define NAPI_EXTERN __attribute__((visibility("default"), warn_unused_result))
#include <node_api.h>
#include <stdbool.h>

#include "../../../include/assay.h"
#include "../generated/functions.h"

/* Ends a function with its `failed` value when a call of Node-API fails. */
#ifdef ASSAY_FAULTS
bool fault_is_due(void); /* tests/native/faults.c */
napi_value fail_at(napi_env env, napi_callback_info info);
#define FAILS(call) (fault_is_due() || (call) != napi_ok)
#else
#define FAILS(call) ((call) != napi_ok)
#endif
#define TRY(call)                       \
  do {                                  \
    if (FAILS(call)) return fail(env);  \
  } while (0)

/* The functions of libassay, by their names. */
#define ASSAY_MEMBER(name) __typeof__(name) *name;
struct library {
  ASSAY_FUNCTIONS(ASSAY_MEMBER)
};

/* Copies of arguments, wiped after each call. Texts are known by their offset. */
struct arena {
  char *data;
  size_t used, size;
};

enum kind { VERIFIER = 1, KEYSET, EXCHANGE, DOCUMENT };

/* One object of the library, and how many calls on the thread pool use it. */
struct handle {
  uint32_t mark;
  enum kind kind;
  struct environment *environment;
  void *object;        /* NULL once it was freed */
  napi_ref reference;  /* weak; of documents alone */
  size_t uses, bytes;
  bool is_closed, is_lost;
};

struct environment {
  struct library library;
  napi_env env;
  bool is_open;
  size_t users; /* handles that still point here, and the environment itself */
  int32_t *status;
  napi_ref status_array;
  struct arena arena;
  struct handle **documents;
  size_t document_count, document_room, swept;
  int64_t unreported; /* bytes of documents that V8 has not been told of */
};

struct slice {
  size_t offset, length;
  bool is_null;
};

/* One call of the library: its arguments, and then its results. */
struct call {
  const struct operation *operation;
  struct environment *environment;
  struct arena *arena;
  struct handle *owner, *keyset; /* owner: a verifier, or an exchange */
  struct handle **used; /* those of the evidence */
  const assay_doc **evidence;
  size_t evidence_count;
  struct slice texts[3];
  int64_t numbers[4];
  assay_status status;
  assay_doc *document;
  void *made;
};

/* takes: a letter for each argument. v verifier, y key set, x exchange, t text or null,
 * d documents, n number, e date or undefined. makes: the kind of a further result. */
struct operation {
  const char *takes;
  enum kind makes;
};
extern const struct operation OPERATIONS[];
extern const size_t OPERATION_COUNT;

/* handles.c */
struct environment *environment_of(napi_env env);
void environment_release(struct environment *environment);
void environment_end(void *environment);
struct handle *handle_of(napi_env env, napi_value value, enum kind kind);
napi_value handle_new(napi_env env, struct environment *environment, enum kind kind, void *object);
void handle_leave(struct handle *handle);
napi_value close_handle(napi_env env, napi_callback_info info);
napi_value collect(napi_env env, napi_callback_info info);

/* values.c */
napi_value fail(napi_env env);
napi_value fail_with(napi_env env, const char *text);
bool arena_text(napi_env env, struct arena *arena, napi_value value, struct slice *out);
void arena_wipe(struct arena *arena);
bool number_of(napi_env env, napi_value value, bool is_date, int64_t *out);
napi_value text_value(napi_env env, const char *text, size_t length);

/* calls.c */
bool call_read(napi_env env, struct call *call, size_t count, napi_value *values);
void perform(struct call *call);
void call_leave(struct call *call);
napi_value call_result(napi_env env, struct call *call);
napi_value run(napi_env env, napi_callback_info info);

/* work.c */
napi_value start(napi_env env, napi_callback_info info);

#endif
