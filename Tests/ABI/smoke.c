/*
 * smoke.c - the acceptance test of the C ABI.
 *
 *   smoke CASES.json [SUITE]
 *
 * Tests the functions first: with NULL, with lengths that do not fit, with
 * unknown kinds and impossible times, and that every output is written. Then
 * runs every case of the table (cases.h): status, check, location and facts.
 * Prints the failures, and "suite SUITE: N passed, N failed, 0 skipped".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "report.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define NOW INT64_C(1767225600000) /* 2026-01-01 */
#define NOT_NULL_TERMINATED(text) (text), (sizeof(text) - 1)

static const char CONFIG[] =
    "{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1234567890},"
    "{\"bundleId\":\"com.example.other\",\"appAppleId\":9007199254740991}],"
    "\"plans\":[\"free\",\"premium\"]}";

/* Counts one expectation and prints it if it is not met. */
static int expect(int met, const char *subject, const char *what) {
  return expect_that(met, "%s: %s", subject, what);
}

/* Compares texts like expect, and prints both if they differ. */
static int expect_text(const char *got, const char *wanted,
                       const char *subject, const char *what) {
  return expect_that(got != NULL && strcmp(got, wanted) == 0, "%s: %s is %s, not %s", subject,
                     what, got ? got : "(null)", wanted);
}

/* ---- one document ------------------------------------------------------- */

static cJSON *parse(const assay_doc *doc) {
  size_t len = 0;
  const char *json = assay_doc_json(doc, &len);
  return json == NULL ? NULL : cJSON_ParseWithLength(json, len);
}

static void check_list(const cJSON *root, int ok, const char *name) {
  const cJSON *checks = cJSON_GetObjectItemCaseSensitive(root, "checks");
  const cJSON *check;
  int sound = cJSON_IsArray(checks), refused = 0;
  cJSON_ArrayForEach(check, checks) {
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(check, "ok");
    sound &= json_text(check, "id", NULL) != NULL;
    sound &= cJSON_IsBool(result) || cJSON_IsNull(result);
    if (cJSON_IsNull(result)) sound &= json_text(check, "reason", NULL) != NULL;
    refused += cJSON_IsFalse(result);
  }
  expect(sound, name, "DOC-5 every check has an id and a result, and why if "
                      "it was not made");
  if (ok) expect(refused == 0, name, "a verified document has no failed check");
}

static void check_error(const cJSON *root, const char *name) {
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
  expect(json_text(error, "message", NULL) != NULL, name,
         "DOC-1 error.message is text");
  expect(json_text(error, "hint", NULL) != NULL, name,
         "DOC-1 error.hint is text");
  expect(cJSON_HasObjectItem(error, "check") &&
             cJSON_HasObjectItem(error, "at"),
         name, "DOC-1 error has check and at");
}

/* Checks the members of every document, whatever the call (DOC-1, DOC-5). */
static cJSON *check_envelope(const assay_doc *doc, assay_status status,
                             const char *name) {
  size_t len = 0;
  const char *json = assay_doc_json(doc, &len);
  cJSON *root = parse(doc);
  int ok = status == ASSAY_OK;
  if (!expect(root != NULL, name, "the document is JSON")) return NULL;
  expect(strlen(json) == len, name, "the document ends at its NUL");
  expect(assay_doc_json(doc, NULL) == json, name, "len may be NULL");
  expect(assay_doc_status(doc) == status, name,
         "the document has the status that the call returned");
  expect(json_int(root, "assay", 0) == 1, name, "assay is 1");
  expect(json_text(root, "kind", NULL) != NULL, name, "kind is text");
  expect(cJSON_IsTrue(json_at(root, "ok")) == ok, name,
         "ok is true with status 0 only");
  expect(json_int(json_at(root, "status"), "code", -1) == status, name,
         "status.code is the status");
  expect_text(json_text(json_at(root, "status"), "name", NULL),
              assay_status_name(status), name, "status.name");
  expect(cJSON_HasObjectItem(root, "error") == !ok, name,
         "error is there when refused, and only then");
  check_list(root, ok, name);
  if (!ok) check_error(root, name);
  return root;
}

/* ---- getters ------------------------------------------------------------ */

static void check_text_getter(const assay_doc *doc, const char *path,
                              const char *wanted, const char *name) {
  size_t len = 77;
  const char *text = assay_doc_text(doc, path, strlen(path), &len);
  if (wanted == NULL) {
    expect(text == NULL, name, path);
    return;
  }
  if (!expect_text(text, wanted, name, path)) return;
  expect(len == strlen(wanted) && text[len] == '\0', name,
         "length and terminator of a text");
}

static void test_getters(void) {
  static const struct {
    const char *path, *text;
  } texts[] = {
      {"kind", "configuration"},
      {"status.name", "ok"},
      {"configuration.apps.0.bundleId", "com.example.app"},
      {"configuration.apps.1.bundleId", "com.example.other"},
      {"configuration.plans.1", "premium"},
      {"configuration.plans.2", NULL},
      {"configuration.plans.-1", NULL},
      {"configuration.plans.99999999999999999999", NULL},
      {"configuration.plans", NULL},
      {"configuration.plans.x", NULL},
      {"configuration.apps.0.appAppleId", NULL},
      {"configuration.apps.0.bundleId.deeper", NULL},
      {"configuration", NULL},
      {"Configuration", NULL},
      {"absent", NULL},
      {"", NULL},
      {".", NULL},
      {".kind", NULL},
      {"kind.", NULL},
      {"status..name", NULL},
  };
  static const struct {
    const char *path;
    int64_t value;
  } integers[] = {
      {"assay", 1},
      {"status.code", 0},
      {"configuration.apps.0.appAppleId", INT64_C(1234567890)},
      {"configuration.apps.1.appAppleId", INT64_C(9007199254740991)},
      {"configuration.apps.2.appAppleId", -42},
      {"configuration.apps.0.bundleId", -42},
      {"ok", -42},
      {"absent", -42},
      {"", -42},
  };
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  cJSON *root;
  size_t i, len = 77;
  if (!expect(assay_verifier_new(CONFIG, strlen(CONFIG), &verifier, &doc) ==
                  ASSAY_OK,
              "getters", "the verifier is made"))
    return;
  root = check_envelope(doc, ASSAY_OK, "getters");
  cJSON_Delete(root);
  assay_verifier_free(verifier); /* the document must outlive it */
  for (i = 0; i < COUNT(texts); i++)
    check_text_getter(doc, texts[i].path, texts[i].text, "assay_doc_text");
  for (i = 0; i < COUNT(integers); i++)
    expect(assay_doc_integer(doc, integers[i].path, strlen(integers[i].path),
                             -42) == integers[i].value,
           "assay_doc_integer", integers[i].path);
  expect(assay_doc_text(doc, "kindness", 4, NULL) != NULL, "assay_doc_text",
         "the path ends at its length, and len may be NULL");
  expect(assay_doc_text(doc, "kind\0x", 6, NULL) == NULL, "assay_doc_text",
         "NUL bytes in a path are data");
  expect(assay_doc_text(doc, NULL, 0, &len) == NULL, "assay_doc_text",
         "an empty path may be NULL");
  expect(assay_doc_text(doc, NULL, 4, &len) == NULL, "assay_doc_text",
         "NULL with a length gives NULL");
  expect(assay_doc_text(doc, "kind", SIZE_MAX, &len) == NULL, "assay_doc_text",
         "a length beyond all memory gives NULL");
  expect(assay_doc_text(doc, "kind", SIZE_MAX / 2, &len) == NULL,
         "assay_doc_text", "half of all memory gives NULL");
  expect(assay_doc_integer(doc, NULL, 0, 7) == 7, "assay_doc_integer",
         "an empty path may be NULL");
  expect(assay_doc_integer(doc, NULL, 4, 7) == 7, "assay_doc_integer",
         "NULL with a length gives the fallback");
  expect(assay_doc_integer(doc, "assay", SIZE_MAX, 7) == 7,
         "assay_doc_integer", "a length beyond all memory: the fallback");
  expect(assay_doc_integer(doc, "assay", SIZE_MAX / 2, 7) == 7,
         "assay_doc_integer", "half of all memory: the fallback");
  assay_doc_free(doc);
}

static void test_null_document(void) {
  size_t len = 77;
  expect((assay_doc_status(NULL) & 0xff) == ASSAY_MISUSE, "assay_doc_status",
         "NULL is misuse");
  expect(assay_doc_json(NULL, &len) == NULL && len == 0, "assay_doc_json",
         "NULL gives NULL and length 0");
  expect(assay_doc_json(NULL, NULL) == NULL, "assay_doc_json",
         "NULL twice gives NULL");
  len = 77;
  expect(assay_doc_text(NULL, "kind", 4, &len) == NULL && len == 0,
         "assay_doc_text", "NULL gives NULL and length 0");
  expect(assay_doc_text(NULL, NULL, 0, NULL) == NULL, "assay_doc_text",
         "NULL everywhere gives NULL");
  expect(assay_doc_integer(NULL, "assay", 5, 7) == 7, "assay_doc_integer",
         "NULL gives the fallback");
  assay_doc_free(NULL);
  assay_verifier_free(NULL);
}

/* ---- library ------------------------------------------------------------ */

static void test_library(void) {
  unsigned major = 0, minor = 0, patch = 0;
  cJSON *info = cJSON_Parse(assay_build_info());
  static const char *const members[] = {"commit", "compiler", "libcrypto"};
  size_t i;
  expect(assay_version_number() == ASSAY_VERSION_NUMBER,
         "assay_version_number", "agrees with the header");
  expect_text(assay_version(), ASSAY_VERSION, "assay_version", "text");
  expect(sscanf(ASSAY_VERSION, "%u.%u.%u", &major, &minor, &patch) == 3 &&
             major * 10000 + minor * 100 + patch == ASSAY_VERSION_NUMBER,
         "assay.h", "both forms of the version agree");
  expect(assay_version() == assay_version(), "assay_version", "is static");
  expect(assay_build_info() == assay_build_info(), "assay_build_info",
         "is static");
  expect(cJSON_IsObject(info), "assay_build_info", "is a JSON object");
  for (i = 0; i < COUNT(members); i++) {
    /* In a source archive, outside a repository, the commit is unknown. */
    int may_be_unknown = i == 0 && getenv("ASSAY_IN_REPOSITORY") == NULL;
    const char *text = json_text(info, members[i], "");
    expect(strlen(text) > 0 && (may_be_unknown || strcmp(text, "unknown") != 0),
           "assay_build_info", members[i]);
  }
  expect(cJSON_IsArray(json_at(info, "features")), "assay_build_info",
         "features is a list");
  cJSON_Delete(info);
}

/* Checks that the library enumerates all of its statuses, each once, in
 * order. */
static void test_status_texts(int32_t named) {
  static const char *const classes[] = {"never", "later", "same-once",
                                        "other-environment", "after-config"};
  static const int32_t http_of[] = {500, 400, 400, 400, 413, 500, 500, 503, 500, 500, 500};
  assay_status status, last = ASSAY_OK;
  int32_t family;
  size_t i;
  for (status = assay_status_next(ASSAY_OK); status != ASSAY_OK && named >= 0;
       status = assay_status_next(status), named--) {
    const char *name = assay_status_text(status, ASSAY_STATUS_NAME);
    const char *retry = assay_status_text(status, ASSAY_STATUS_RETRY);
    const int32_t http = assay_status_http(status);
    expect_text(name, assay_status_name(status), "assay_status_text", "the name");
    expect(strlen(assay_status_text(status, ASSAY_STATUS_MESSAGE)) > 0 &&
               strlen(assay_status_text(status, ASSAY_STATUS_HINT)) > 0,
           name, "has a message and a hint");
    for (i = 0; i < COUNT(classes) && strcmp(retry, classes[i]) != 0; i++) continue;
    expect(i < COUNT(classes), name, "has a retry class");
    expect(http >= 200 && http <= 599, name, "has an HTTP status");
    expect((last & 0xff) < (status & 0xff) || last < status, name, "the order");
    last = status;
  }
  expect(status == ASSAY_OK && named == 0, "assay_status_next", "every status once");
  expect(assay_status_http(ASSAY_OK) == 200, "assay_status_http", "ok");
  for (family = 0; family <= 10; family++) {
    status = family | 0x7fff00;
    expect(assay_status_http(status) == http_of[family], "assay_status_http", "by family");
    for (i = ASSAY_STATUS_MESSAGE; i <= ASSAY_STATUS_RETRY; i++)
      expect_text(assay_status_text(status, (int32_t)i), "", "assay_status_text", "unknown");
  }
  expect(assay_status_text(last, 0) == NULL && assay_status_text(last, 5) == NULL,
         "assay_status_text", "another text");
}

static void test_status_names(void) {
  static const int32_t odd[] = {-1, INT32_MIN, INT32_MAX, 0xff, 10, 0x7fffff01};
  int32_t detail, family, named = 0;
  size_t i;
  expect_text(assay_status_name(ASSAY_OK), "ok", "assay_status_name", "0");
  for (i = 0; i < COUNT(odd); i++)
    expect(assay_status_name(odd[i]) != NULL &&
               strlen(assay_status_name(odd[i])) > 0,
           "assay_status_name", "a code of no table still gives text");
  for (family = 0; family <= 9; family++)
    for (detail = 0; detail < 512; detail++) {
      const char *name = assay_status_name(family | detail * 256);
      if (name == NULL) {
        expect(0, "assay_status_name", "never NULL");
      } else if (strchr(name, '.') != NULL) {
        static const char *const prefixes[] = {
            "ok.",     "rejected.", "malformed.", "unsupported.", "too-large.",
            "misuse.", "config.",   "unavailable.", "internal.", "pending."};
        expect(strncmp(name, prefixes[family], strlen(prefixes[family])) == 0,
               name, "the name begins with its family");
        named++;
      }
    }
  expect(named > 300, "assay_status_name", "the table of names is there");
  test_status_texts(named);
}

/* ---- misuse ------------------------------------------------------------- */

/* A pointer that is not a document: a call must overwrite it. */
static char garbage[1];
#define GARBAGE ((void *)garbage)

/* Checks a status and its document, which has this kind unless `kind` is
 * NULL. */
static void check_outcome(assay_status status, const assay_doc *doc,
                          const char *wanted, const char *kind,
                          const char *name) {
  cJSON *root;
  expect_text(assay_status_name(status), wanted, name, "status");
  if (!expect((const void *)doc != GARBAGE, name, "*doc is written")) return;
  if (!expect(doc != NULL, name, "a document came")) return;
  root = check_envelope(doc, status, name);
  if (kind != NULL)
    expect_text(json_text(root, "kind", NULL), kind, name, "kind");
  cJSON_Delete(root);
}

/* A call of the library with a verifier; `given` has its other arguments. */
typedef assay_status call(const assay_verifier *verifier, const void *given,
                          assay_doc **doc);

static void check_misuse(call *make, const assay_verifier *verifier,
                         const void *given, const char *name,
                         const char *what) {
  assay_doc *doc = GARBAGE;
  expect((make(verifier, given, &doc) & 0xff) == ASSAY_MISUSE, name, what);
  if (expect((void *)doc != GARBAGE, name, "*doc is written"))
    assay_doc_free(doc);
}

/* Checks the properties of every call with a verifier, whatever its
 * arguments. */
static void check_call(call *make, const assay_verifier *verifier,
                       const void *given, const char *wanted, const char *kind,
                       const char *function, const char *row) {
  assay_doc *doc = GARBAGE;
  assay_status status;
  char name[112];
  snprintf(name, sizeof name, "%s, %s", function, row);
  status = make(verifier, given, &doc);
  check_outcome(status, doc, wanted, kind, name);
  if ((void *)doc != GARBAGE) assay_doc_free(doc);
  expect((make(verifier, given, NULL) & 0xff) == ASSAY_MISUSE, name,
         "without a document it is misuse");
  check_misuse(make, NULL, given, name, "without a verifier it is misuse");
}

/* A call that makes an object from a text, and the call that frees the
 * object. */
struct maker {
  const char *function, *kind;
  assay_status (*make)(const char *text, size_t len, void **out,
                       assay_doc **doc);
  void (*free)(void *made);
};

struct text_row {
  const char *name, *text;
  size_t len;
  const char *status;
};

static void check_maker(const struct maker *maker, const struct text_row *row) {
  void *made = GARBAGE;
  assay_doc *doc = GARBAGE;
  assay_status status;
  char name[112];
  int is_ok = strcmp(row->status, "ok") == 0;
  snprintf(name, sizeof name, "%s, %s", maker->function, row->name);
  status = maker->make(row->text, row->len, &made, &doc);
  check_outcome(status, doc, row->status, maker->kind, name);
  if ((void *)doc != GARBAGE) assay_doc_free(doc);
  expect(made != GARBAGE && (made != NULL) == is_ok, name,
         "*out is what was made, or NULL");
  if (made != GARBAGE) maker->free(made);
  made = GARBAGE;
  expect(maker->make(row->text, row->len, &made, NULL) == status &&
             made != GARBAGE && (made != NULL) == is_ok,
         name, "the same without a document");
  if (made != GARBAGE) maker->free(made);
  doc = GARBAGE;
  status = maker->make(row->text, row->len, NULL, &doc);
  check_outcome(status, doc, "misuse.call.argument", maker->kind, name);
  if ((void *)doc != GARBAGE) assay_doc_free(doc);
  expect(maker->make(row->text, row->len, NULL, NULL) == status, name,
         "no output at all is misuse");
}

static assay_status make_verifier(const char *text, size_t len, void **out,
                                  assay_doc **doc) {
  assay_verifier *made = GARBAGE;
  assay_status status =
      assay_verifier_new(text, len, out == NULL ? NULL : &made, doc);
  if (out != NULL) *out = made;
  return status;
}

static void free_verifier(void *made) { assay_verifier_free(made); }

static void test_verifier_new(void) {
  static char large[2 << 20]; /* more than the cap */
  static const struct maker maker = {"assay_verifier_new", "configuration",
                                     make_verifier, free_verifier};
  static const struct text_row rows[] = {
      {"nothing", NULL, 0, "config.document.syntax"},
      {"NULL with a length", NULL, 5, "misuse.call.argument"},
      {"empty text", "", 0, "config.document.syntax"},
      {"a length beyond all memory", "{}", SIZE_MAX, "misuse.call.argument"},
      {"half of all memory and one", "{}", SIZE_MAX / 2 + 1,
       "misuse.call.argument"},
      {"half of all memory", large, SIZE_MAX / 2, "config.document.range"},
      {"a NUL byte after it", NOT_NULL_TERMINATED("{}\0"),
       "config.document.syntax"},
      {"no object", NOT_NULL_TERMINATED("[]"), "config.document.syntax"},
      {"empty object", NOT_NULL_TERMINATED("{}"), "config.document.missing"},
      {"cut off", NOT_NULL_TERMINATED("{\"apps\":"), "config.document.syntax"},
      {"unknown member",
       NOT_NULL_TERMINATED("{\"apps\":[{\"bundleId\":\"a\",\"appAppleId\":1}],"
                           "\"requried\":1}"),
       "config.document.unknown-member"},
      {"no app", NOT_NULL_TERMINATED("{\"apps\":[]}"), "config.apps.form"},
      {"a configuration", NOT_NULL_TERMINATED(CONFIG), "ok"},
  };
  size_t i;
  for (i = 0; i < COUNT(rows); i++) check_maker(&maker, &rows[i]);
}

struct jws_call {
  const char *name;
  int32_t kind;
  const char *jws;
  size_t len;
  int64_t now_ms;
  const char *status;
};

static assay_status call_jws(const assay_verifier *verifier, const void *given,
                             assay_doc **doc) {
  const struct jws_call *row = given;
  return assay_verify_jws(verifier, row->kind, row->jws, row->len, row->now_ms,
                          doc);
}

static void test_verify_jws(const assay_verifier *verifier) {
  static const char dots[] = "e30.e30.e30";
  static char large[1 << 20];
  static const struct jws_call rows[] = {
      {"kind 0", 0, dots, 11, NOW, "misuse.call.kind"},
      {"kind 6", 6, dots, 11, NOW, "misuse.call.kind"},
      {"kind -1", -1, dots, 11, NOW, "misuse.call.kind"},
      {"kind INT32_MIN", INT32_MIN, dots, 11, NOW, "misuse.call.kind"},
      {"kind INT32_MAX", INT32_MAX, dots, 11, NOW, "misuse.call.kind"},
      {"now 0", 1, dots, 11, 0, "misuse.call.now"},
      {"now INT64_MIN", 1, dots, 11, INT64_MIN, "misuse.call.now"},
      {"now INT64_MAX", 1, dots, 11, INT64_MAX, "misuse.call.now"},
      {"now in seconds", 1, dots, 11, NOW / 1000, "misuse.call.now"},
      {"now just too early", 1, dots, 11, INT64_C(1199145599999),
       "misuse.call.now"},
      {"now just too late", 1, dots, 11, INT64_C(4102444800000),
       "misuse.call.now"},
      {"now at the first moment", 1, dots, 11, INT64_C(1199145600000),
       "malformed.jws.signature-length"},
      {"now at the last moment", 1, dots, 11, INT64_C(4102444799999),
       "malformed.jws.signature-length"},
      {"NULL with a length", 1, NULL, 1, NOW, "misuse.call.argument"},
      {"NULL and nothing", 1, NULL, 0, NOW, "malformed.jws.form"},
      {"nothing", 1, "", 0, NOW, "malformed.jws.form"},
      {"NUL bytes", 1, "\0.\0.\0", 5, NOW, "malformed.jws.form"},
      {"a length beyond all memory", 1, dots, SIZE_MAX, NOW,
       "misuse.call.argument"},
      {"half of all memory and one", 1, dots, SIZE_MAX / 2 + 1, NOW,
       "misuse.call.argument"},
      {"half of all memory", 1, large, SIZE_MAX / 2, NOW,
       "too-large.jws.input"},
      {"a megabyte", 1, large, sizeof large, NOW, "too-large.jws.input"},
      {"transaction", 1, dots, 11, NOW, "malformed.jws.signature-length"},
      {"renewal info", 2, dots, 11, NOW, "malformed.jws.signature-length"},
      {"notification", 3, dots, 11, NOW, "malformed.jws.signature-length"},
      {"app transaction", 4, dots, 11, NOW, "malformed.jws.signature-length"},
      {"realtime request", 5, dots, 11, NOW, "malformed.jws.signature-length"},
  };
  static const char *const kinds[] = {"transaction", "renewal-info",
                                      "notification", "app-transaction",
                                      "realtime-request"};
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    int known = rows[i].kind >= 1 && rows[i].kind <= 5;
    check_call(call_jws, verifier, &rows[i], rows[i].status,
               known ? kinds[rows[i].kind - 1] : NULL, "assay_verify_jws",
               rows[i].name);
  }
}

struct receipt_call {
  const char *name;
  int32_t kind;
  const char *receipt;
  size_t len;
  const char *subject;
  size_t subject_len;
  int64_t now_ms;
  const char *status;
};

static assay_status call_receipt(const assay_verifier *verifier,
                                 const void *given, assay_doc **doc) {
  const struct receipt_call *row = given;
  return assay_verify_receipt(verifier, row->kind, row->receipt, row->len,
                              row->subject, row->subject_len, row->now_ms,
                              doc);
}

/* Inputs without valid content. */
static void test_verify_receipt(const assay_verifier *verifier) {
  static char large[9 << 20]; /* more than any cap */
  static const struct receipt_call rows[] = {
      {"kind 0", 0, "e30K", 4, NULL, 0, NOW, "misuse.call.kind"},
      {"kind 4", 4, "e30K", 4, NULL, 0, NOW, "misuse.call.kind"},
      {"an App Attest receipt, nobody's App ID", 3, "e30K", 4, NULL, 0, NOW,
       "config.attest.app-ids"},
      {"kind -1", -1, "e30K", 4, NULL, 0, NOW, "misuse.call.kind"},
      {"kind INT32_MAX", INT32_MAX, "e30K", 4, NULL, 0, NOW,
       "misuse.call.kind"},
      {"now 0", 1, "e30K", 4, NULL, 0, 0, "misuse.call.now"},
      {"now INT64_MIN", 2, "e30K", 4, NULL, 0, INT64_MIN, "misuse.call.now"},
      {"now in seconds", 1, "e30K", 4, NULL, 0, NOW / 1000, "misuse.call.now"},
      {"NULL with a length", 1, NULL, 1, NULL, 0, NOW, "misuse.call.argument"},
      {"NULL and nothing", 1, NULL, 0, NULL, 0, NOW,
       "malformed.transport.empty"},
      {"nothing", 2, "", 0, NULL, 0, NOW, "malformed.transport.empty"},
      {"NUL bytes", 1, "\0\0\0\0", 4, NULL, 0, NOW,
       "malformed.transport.base64"},
      {"a length beyond all memory", 1, large, SIZE_MAX, NULL, 0, NOW,
       "misuse.call.argument"},
      {"half of all memory", 2, large, SIZE_MAX / 2, NULL, 0, NOW,
       "too-large.transport.input"},
      {"a subject of NULL with a length", 2, "e30K", 4, NULL, 6, NOW,
       "misuse.call.argument"},
      {"a subject beyond all memory", 2, "e30K", 4, "abcdef", SIZE_MAX, NOW,
       "misuse.call.argument"},
      {"an empty subject", 2, "e30K", 4, "", 0, NOW, "misuse.receipt.subject"},
      {"a subject of five bytes", 2, "e30K", 4, "abcde", 5, NOW,
       "misuse.receipt.subject"},
      {"a subject with a transaction receipt", 1, "e30K", 4, "abcdef", 6, NOW,
       "misuse.receipt.subject"},
      {"a list without keys", 1, "e30K", 4, NULL, 0, NOW,
       "malformed.transaction-receipt.outer-missing"},
      {"a list as an app receipt", 2, "e30K", 4, NULL, 0, NOW,
       "rejected.kind.mismatch"},
  };
  static const char *const kinds[] = {"transaction-receipt", "app-receipt",
                                      "attest-receipt"};
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    int known = rows[i].kind >= 1 && rows[i].kind <= 3;
    check_call(call_receipt, verifier, &rows[i], rows[i].status,
               known ? kinds[rows[i].kind - 1] : NULL, "assay_verify_receipt",
               rows[i].name);
  }
}

/* Arguments of the calls about device keys, without valid content. */
static const char ATTEST_CONFIG[] =
    "{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1}],"
    "\"attest\":{\"appIds\":[\"ABCDE12345.com.example.app\"]}}";

static const char KEY_ID[] =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

struct key_call {
  const char *name;
  const char *object;
  size_t object_len;
  const char *key;
  size_t key_len;
  int32_t data_kind;
  const char *data;
  size_t data_len;
  int64_t now_ms;
  const char *attestation, *assertion;
};

static assay_status call_attestation(const assay_verifier *verifier,
                                     const void *given, assay_doc **doc) {
  const struct key_call *row = given;
  return assay_verify_attestation(
      verifier, row->object, row->object_len, row->key, row->key_len,
      row->data_kind, row->data, row->data_len, row->now_ms, doc);
}

static assay_status call_assertion(const assay_verifier *verifier,
                                   const void *given, assay_doc **doc) {
  const struct key_call *row = given;
  return assay_verify_assertion(
      verifier, row->object, row->object_len, row->key, row->key_len, 0,
      row->data_kind, row->data, row->data_len, row->now_ms, doc);
}

static void test_keys(void) {
  static char large[9 << 20]; /* more than any cap */
  static const char id[32] = "0123456789abcdef0123456789abcde";
  static const struct key_call rows[] = {
      {"nothing", "", 0, id, 32, 1, "x", 1, NOW, "malformed.attest.empty",
       "misuse.assertion.public-key"},
      {"NULL and nothing", NULL, 0, id, 32, 1, "x", 1, NOW,
       "malformed.attest.empty", "misuse.assertion.public-key"},
      {"NULL with a length", NULL, 1, id, 32, 1, "x", 1, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"a length beyond all memory", "x", SIZE_MAX, id, 32, 1, "x", 1, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"half of all memory and one", "x", SIZE_MAX / 2 + 1, id, 32, 1, "x", 1,
       NOW, "misuse.call.argument", "misuse.call.argument"},
      {"half of all memory", large, SIZE_MAX / 2, id, 32, 1, "x", 1, NOW,
       "too-large.attest.object", "misuse.assertion.public-key"},
      {"a byte", "x", 1, id, 32, 1, "x", 1, NOW, "malformed.attest.cbor",
       "misuse.assertion.public-key"},
      {"a key of NULL with a length", "x", 1, NULL, 32, 1, "x", 1, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"a key beyond all memory", "x", 1, id, SIZE_MAX, 1, "x", 1, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"half of all memory as the key", "x", 1, large, SIZE_MAX / 2, 1, "x", 1,
       NOW, "malformed.attest.key-id", "misuse.assertion.public-key"},
      {"no key", "x", 1, NULL, 0, 1, "x", 1, NOW, "malformed.attest.key-id",
       "misuse.assertion.public-key"},
      {"a key in base64", "x", 1, KEY_ID, 44, 1, "x", 1, NOW,
       "malformed.attest.cbor", "misuse.assertion.public-key"},
      {"client data of NULL with a length", "x", 1, id, 32, 1, NULL, 1, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"client data beyond all memory", "x", 1, id, 32, 1, "x", SIZE_MAX, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"half of all memory as client data", "x", 1, id, 32, 1, large,
       SIZE_MAX / 2, NOW, "too-large.attest.client-data",
       "too-large.attest.client-data"},
      {"no client data", "x", 1, id, 32, 1, NULL, 0, NOW,
       "misuse.attest.client-data", "misuse.attest.client-data"},
      {"a hash of one byte", "x", 1, id, 32, 2, "x", 1, NOW,
       "misuse.attest.client-data", "misuse.attest.client-data"},
      {"client data of kind 0", "x", 1, id, 32, 0, "x", 1, NOW,
       "misuse.attest.client-data", "misuse.attest.client-data"},
      {"client data of kind 3", "x", 1, id, 32, 3, "x", 1, NOW,
       "misuse.attest.client-data", "misuse.attest.client-data"},
      {"client data of kind INT32_MIN", "x", 1, id, 32, INT32_MIN, "x", 1, NOW,
       "misuse.attest.client-data", "misuse.attest.client-data"},
      {"now 0", "x", 1, id, 32, 1, "x", 1, 0, "misuse.call.now",
       "misuse.call.now"},
      {"now INT64_MIN", "x", 1, id, 32, 1, "x", 1, INT64_MIN,
       "misuse.call.now", "misuse.call.now"},
      {"now INT64_MAX", "x", 1, id, 32, 1, "x", 1, INT64_MAX,
       "misuse.call.now", "misuse.call.now"},
      {"now in seconds", "x", 1, id, 32, 1, "x", 1, NOW / 1000,
       "misuse.call.now", "misuse.call.now"},
  };
  assay_verifier *verifier = NULL;
  size_t i;
  if (!expect(assay_verifier_new(ATTEST_CONFIG, strlen(ATTEST_CONFIG),
                                 &verifier, NULL) == ASSAY_OK,
              "App Attest", "the verifier is made"))
    return;
  for (i = 0; i < COUNT(rows); i++) {
    check_call(call_attestation, verifier, &rows[i], rows[i].attestation,
               "attestation", "assay_verify_attestation", rows[i].name);
    check_call(call_assertion, verifier, &rows[i], rows[i].assertion,
               "assertion", "assay_verify_assertion", rows[i].name);
  }
  assay_verifier_free(verifier);
}

struct exchange_call {
  const char *name, *request;
  size_t len;
  const assay_doc *const *evidence;
  size_t count;
  int64_t now_ms;
  const char *status, *kind;
};

static assay_status call_exchange_without_out(const assay_verifier *verifier,
                                              const void *given,
                                              assay_doc **doc) {
  const struct exchange_call *row = given;
  return assay_exchange_new(verifier, row->request, row->len, row->evidence,
                            row->count, row->now_ms, NULL, doc);
}

static assay_status call_exchange(const assay_verifier *verifier,
                                  const void *given, assay_doc **doc) {
  const struct exchange_call *row = given;
  assay_exchange *exchange = GARBAGE;
  assay_status status =
      assay_exchange_new(verifier, row->request, row->len, row->evidence,
                         row->count, row->now_ms, &exchange, doc);
  expect(exchange == NULL, row->name, "*out is NULL: nothing is open");
  return status;
}

static assay_status call_at_once(const assay_verifier *verifier,
                                 const void *given, assay_doc **doc) {
  const struct exchange_call *row = given;
  return assay_call(verifier, row->request, row->len, row->evidence, row->count,
                    row->now_ms, doc);
}

static void test_exchange_new(const assay_verifier *verifier) {
  static char large[9 << 20]; /* more than any cap */
  static const char allowed[] =
      "{\"operation\":\"assess-risk\",\"observations\":{\"request\":\"read\","
      "\"attestation\":\"verified\"}}";
  static const char denied[] =
      "{\"operation\":\"assess-risk\",\"observations\":{\"request\":\"read\","
      "\"attestation\":\"refused\"}}";
  static const struct exchange_call steps = {
      "a kind with steps", NOT_NULL_TERMINATED("{\"operation\":\"check-schema\"}"),
      NULL, 0, NOW, "misuse.exchange.operation", "exchange"};
  const assay_doc *none[1] = {NULL};
  const assay_doc *refused[1];
  assay_doc *refusal = NULL;
  const struct exchange_call rows[] = {
      {"done at once", allowed, sizeof allowed - 1, NULL, 0, NOW, "ok",
       "risk"},
      {"refused at once", denied, sizeof denied - 1, NULL, 0, NOW,
       "rejected.risk.deny", "risk"},
      {"an empty list", allowed, sizeof allowed - 1, none, 0, NOW, "ok",
       "risk"},
      {"nothing", "", 0, NULL, 0, NOW, "misuse.exchange.request", "exchange"},
      {"NULL and nothing", NULL, 0, NULL, 0, NOW, "misuse.exchange.request",
       "exchange"},
      {"NULL with a length", NULL, 1, NULL, 0, NOW, "misuse.call.argument",
       "exchange"},
      {"a length beyond all memory", allowed, SIZE_MAX, NULL, 0, NOW,
       "misuse.call.argument", "exchange"},
      {"half of all memory", large, SIZE_MAX / 2, NULL, 0, NOW,
       "misuse.exchange.request", "exchange"},
      {"evidence of NULL with a count", allowed, sizeof allowed - 1, NULL, 1,
       NOW, "misuse.call.argument", "exchange"},
      {"a NULL document", allowed, sizeof allowed - 1, none, 1, NOW,
       "misuse.call.argument", "exchange"},
      {"documents beyond all memory", allowed, sizeof allowed - 1, none,
       SIZE_MAX, NOW, "misuse.call.argument", "exchange"},
      {"refused evidence", allowed, sizeof allowed - 1, refused, 1, NOW,
       "misuse.exchange.evidence", "exchange"},
      {"an unknown kind", NOT_NULL_TERMINATED("{\"operation\":\"x\"}"), NULL, 0,
       NOW, "misuse.exchange.operation", "exchange"},
      {"now 0", allowed, sizeof allowed - 1, NULL, 0, 0, "misuse.call.now",
       "exchange"},
      {"now INT64_MAX", allowed, sizeof allowed - 1, NULL, 0, INT64_MAX,
       "misuse.call.now", "exchange"},
  };
  size_t i;
  assay_verify_jws(verifier, ASSAY_JWS_TRANSACTION, "", 0, NOW, &refusal);
  refused[0] = refusal;
  for (i = 0; i < COUNT(rows); i++) {
    check_call(call_exchange, verifier, &rows[i], rows[i].status, rows[i].kind,
               "assay_exchange_new", rows[i].name);
    check_call(call_at_once, verifier, &rows[i], rows[i].status, rows[i].kind,
               "assay_call", rows[i].name);
    check_misuse(call_exchange_without_out, verifier, &rows[i], rows[i].name,
                 "without an exchange it is misuse");
  }
  check_call(call_at_once, verifier, &steps, steps.status, steps.kind,
             "assay_call", steps.name);
  assay_doc_free(refusal);
}

static void test_exchange_step(void) {
  static const struct {
    const char *name, *answer;
    size_t len;
  } rows[] = {
      {"nothing", NULL, 0},
      {"NULL with a length", NULL, 1},
      {"an answer", "{}", 2},
      {"a length beyond all memory", "{}", SIZE_MAX},
  };
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    assay_doc *doc = GARBAGE;
    char name[96];
    assay_status status;
    snprintf(name, sizeof name, "assay_exchange_step of NULL, %s",
             rows[i].name);
    status = assay_exchange_step(NULL, rows[i].answer, rows[i].len, NOW, &doc);
    check_outcome(status, doc, "misuse.call.argument", "exchange", name);
    if ((void *)doc != GARBAGE) assay_doc_free(doc);
    expect(assay_exchange_step(NULL, rows[i].answer, rows[i].len, NOW, NULL) ==
               status,
           name, "no document is misuse too");
  }
  assay_exchange_free(NULL);
}

struct text_call {
  const char *name, *text;
  size_t len;
  int64_t now_ms;
  const char *triage, *answer;
};

static assay_status call_triage(const assay_verifier *verifier,
                                const void *given, assay_doc **doc) {
  const struct text_call *row = given;
  return assay_triage(verifier, row->text, row->len, row->now_ms, doc);
}

static assay_status call_read(const assay_verifier *verifier,
                              const void *given, assay_doc **doc) {
  const struct text_call *row = given;
  return assay_read_verify_receipt_response(verifier, row->text, row->len,
                                            row->now_ms, doc);
}

static void test_text_calls(const assay_verifier *verifier) {
  static char large[9 << 20]; /* more than any cap */
  static const struct text_call rows[] = {
      {"nothing", "", 0, NOW, "malformed.transport.empty",
       "unavailable.verify-receipt.no-response"},
      {"NULL and nothing", NULL, 0, NOW, "malformed.transport.empty",
       "unavailable.verify-receipt.no-response"},
      {"NULL with a length", NULL, 1, NOW, "misuse.call.argument",
       "misuse.call.argument"},
      {"a length beyond all memory", large, SIZE_MAX, NOW,
       "misuse.call.argument", "misuse.call.argument"},
      {"half of all memory", large, SIZE_MAX / 2, NOW,
       "too-large.transport.input", "too-large.verify-receipt.body"},
      {"now 0", "e30K", 4, 0, "misuse.call.now", "misuse.call.now"},
      {"now INT64_MAX", "e30K", 4, INT64_MAX, "misuse.call.now",
       "misuse.call.now"},
      {"an empty list", "e30K", 4, NOW, "rejected.triage.cracking-tool",
       "unavailable.verify-receipt.no-response"},
      {"an empty object", "{}", 2, NOW, "rejected.triage.cracking-tool",
       "malformed.verify-receipt.body"},
  };
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    check_call(call_triage, verifier, &rows[i], rows[i].triage, "triage",
               "assay_triage", rows[i].name);
    check_call(call_read, verifier, &rows[i], rows[i].answer,
               "verify-receipt-response", "assay_read_verify_receipt_response",
               rows[i].name);
  }
}

/* The same variable for evidence and result: it must be read before it is
 * written. */
static void test_reused_variable(const assay_verifier *verifier) {
  static const char request[] = "{\"operation\":\"claim\",\"attemptId\":\"0123456789012345678901\"}";
  assay_doc *doc = NULL, *first, *second;
  assay_exchange *exchange = GARBAGE;
  assay_status status;
  assay_verify_jws(verifier, ASSAY_JWS_TRANSACTION, "", 0, NOW, &doc);
  first = doc;
  status = assay_decide(verifier, (const assay_doc *const *)&doc, 1, NULL, 0, NOW, &doc);
  check_outcome(status, doc, "misuse.decision.evidence", "decision",
                "assay_decide, one variable");
  expect(doc != first, "assay_decide", "the variable has the new document");
  second = doc;
  doc = first;
  status = assay_exchange_new(verifier, request, sizeof request - 1,
                              (const assay_doc *const *)&doc, 1, NOW, &exchange, &doc);
  expect_text(assay_status_name(status), "misuse.exchange.evidence", "assay_exchange_new",
              "one variable");
  expect(doc != first && exchange == NULL, "assay_exchange_new", "both are written");
  assay_doc_free(doc);
  assay_doc_free(second);
  assay_doc_free(first);
}

struct decide_call {
  const char *name;
  const assay_doc *const *evidence;
  size_t count;
  const char *account;
  size_t account_len;
  int64_t now_ms;
  const char *status;
};

static assay_status call_decide(const assay_verifier *verifier,
                                const void *given, assay_doc **doc) {
  const struct decide_call *row = given;
  return assay_decide(verifier, row->evidence, row->count, row->account,
                      row->account_len, row->now_ms, doc);
}

static void test_decide(const assay_verifier *verifier) {
  static const char account[] = "00000000-0000-0000-0000-000000000001";
  static const char long_account[129] = {'0'};
  const assay_doc *none[1] = {NULL};
  const assay_doc *refused[1];
  const assay_doc *configuration[1];
  assay_verifier *other = NULL;
  assay_doc *refusal = NULL, *config_doc = NULL;
  size_t i;
  const struct decide_call rows[] = {
      {"no evidence", NULL, 0, NULL, 0, NOW, "misuse.decision.empty"},
      {"an empty list", none, 0, account, 36, NOW, "misuse.decision.empty"},
      {"NULL with a count", NULL, 1, NULL, 0, NOW, "misuse.call.argument"},
      {"a NULL document", none, 1, NULL, 0, NOW, "misuse.call.argument"},
      {"a count beyond all memory", none, SIZE_MAX, NULL, 0, NOW,
       "misuse.call.argument"},
      {"account NULL with a length", none, 1, NULL, 36, NOW,
       "misuse.call.argument"},
      {"account beyond all memory", none, 1, account, SIZE_MAX, NOW,
       "misuse.call.argument"},
      {"half of all memory as the account", refused, 1, account, SIZE_MAX / 2,
       NOW, "misuse.call.argument"},
      {"an account of 129 bytes", refused, 1, long_account, 129, NOW,
       "misuse.call.argument"},
      {"an account of 128 bytes", refused, 1, long_account, 128, NOW,
       "misuse.decision.evidence"},
      {"now 0", refused, 1, NULL, 0, 0, "misuse.call.now"},
      {"now INT64_MAX", refused, 1, NULL, 0, INT64_MAX, "misuse.call.now"},
      {"refused evidence", refused, 1, NULL, 0, NOW, "misuse.decision.evidence"},
      {"a configuration as evidence", configuration, 1, NULL, 0, NOW,
       "misuse.decision.evidence"},
  };
  assay_verify_jws(verifier, ASSAY_JWS_TRANSACTION, "", 0, NOW, &refusal);
  assay_verifier_new(CONFIG, strlen(CONFIG), &other, &config_doc);
  refused[0] = refusal;
  configuration[0] = config_doc;
  for (i = 0; i < COUNT(rows); i++)
    check_call(call_decide, verifier, &rows[i], rows[i].status, "decision",
               "assay_decide", rows[i].name);
  assay_doc_free(refusal);
  assay_doc_free(config_doc);
  assay_verifier_free(other);
}

static void test_check_expiry(void) {
  static const int64_t none = ASSAY_NO_DATE;
  const struct {
    const char *name;
    int64_t expires, grace, revoked, now_ms;
    const char *status;
  } rows[] = {
      {"before the end", NOW + 1, none, none, NOW, "ok"},
      {"at the end", NOW, none, none, NOW, "rejected.expiry.expired"},
      {"after the end", NOW - 1, none, none, NOW, "rejected.expiry.expired"},
      {"in grace", NOW - 1, NOW + 1, none, NOW, "ok"},
      {"at the end of grace", NOW - 1, NOW, none, NOW, "rejected.expiry.expired"},
      {"grace alone", none, NOW + 1, none, NOW, "ok"},
      {"no dates", none, none, none, NOW, "rejected.expiry.expired"},
      {"without end", INT64_MAX, none, none, NOW, "ok"},
      {"without end, revoked", INT64_MAX, none, NOW, NOW,
       "rejected.expiry.revoked"},
      {"revoked long ago", NOW + 1, NOW + 1, 0, NOW,
       "rejected.expiry.revoked"},
      {"revoked in the future", NOW + 1, none, NOW + 1, NOW,
       "rejected.expiry.revoked"},
      {"negative end", -1, none, none, NOW, "rejected.expiry.expired"},
      {"now 0", NOW, none, none, 0, "misuse.call.now"},
      {"now INT64_MIN", NOW, none, none, INT64_MIN, "misuse.call.now"},
      {"now INT64_MAX", INT64_MAX, none, none, INT64_MAX, "misuse.call.now"},
      {"now just too early", INT64_MAX, none, none, INT64_C(1199145599999),
       "misuse.call.now"},
      {"now at the first moment", INT64_MAX, none, none,
       INT64_C(1199145600000), "ok"},
      {"now at the last moment", INT64_MAX, none, none,
       INT64_C(4102444799999), "ok"},
      {"now just too late", INT64_MAX, none, none, INT64_C(4102444800000),
       "misuse.call.now"},
  };
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    char name[80];
    snprintf(name, sizeof name, "assay_check_expiry, %s", rows[i].name);
    expect_text(assay_status_name(assay_check_expiry(
                    rows[i].expires, rows[i].grace, rows[i].revoked,
                    rows[i].now_ms)),
                rows[i].status, name, "status");
  }
}

/* ---- the case table ----------------------------------------------------- */

static int same_value(const cJSON *got, const cJSON *wanted) {
  if (cJSON_IsNull(wanted)) return got == NULL || cJSON_IsNull(got);
  return got != NULL && cJSON_Compare(got, wanted, 1);
}

/* Compares a fact read by cJSON, and by the getters, which must agree. */
static int check_fact(const assay_doc *doc, const cJSON *root,
                      const cJSON *wanted) {
  const char *path = wanted->string;
  size_t len = strlen(path);
  if (!same_value(json_at(root, path), wanted)) return 0;
  if (cJSON_IsString(wanted)) {
    const char *text = assay_doc_text(doc, path, len, NULL);
    return text != NULL && strcmp(text, wanted->valuestring) == 0;
  }
  if (cJSON_IsNumber(wanted) &&
      wanted->valuedouble == (double)(int64_t)wanted->valuedouble)
    return assay_doc_integer(doc, path, len, -1) ==
           (int64_t)wanted->valuedouble;
  return assay_doc_text(doc, path, len, NULL) == NULL;
}

static void check_expected(const assay_doc *doc, const cJSON *root,
                           const cJSON *wanted, const char *name) {
  static const char *const places[] = {"check", "at"};
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
  const char *hint = json_text(wanted, "hint", NULL);
  const cJSON *fact;
  size_t i;
  if (hint != NULL)
    expect(strncmp(json_text(error, "hint", ""), hint, strlen(hint)) == 0,
           name, json_text(error, "hint", "no hint"));
  for (i = 0; i < COUNT(places); i++)
    if (json_text(wanted, places[i], NULL) != NULL)
      expect_text(json_text(error, places[i], NULL),
                  json_text(wanted, places[i], NULL), name, places[i]);
  cJSON_ArrayForEach(fact,
                     cJSON_GetObjectItemCaseSensitive(wanted, "facts")) {
    char *text = cJSON_PrintUnformatted(json_at(root, fact->string));
    if (!expect(check_fact(doc, root, fact), name, fact->string))
      printf("       it is %s\n", text ? text : "absent");
    cJSON_free(text);
  }
}

/* Returns the document without "cached", which may differ between equal
 * calls. */
static char *without_cached(const assay_doc *doc) {
  char *copy = repeatable_json(doc), *to = copy;
  const char *from = copy;
  if (copy == NULL) exit(2);
  while (*from != '\0') {
    if (strncmp(from, "\"cached\":true", 13) == 0) {
      from += 13;
    } else if (strncmp(from, "\"cached\":false", 14) == 0) {
      from += 14;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
  return copy;
}

static void check_repeatable(const struct case_table *table,
                             const cJSON *item, const assay_doc *first,
                             const char *name) {
  assay_doc *second = NULL, *third = NULL;
  assay_status status = 0;
  char *one, *two, *three;
  if (case_run(table, item, &status, &second) != 0 ||
      case_run(table, item, &status, &third) != 0 || second == NULL ||
      third == NULL) {
    expect(0, name, "can be run again");
  } else {
    one = without_cached(first);
    two = without_cached(second);
    expect(strcmp(one, two) == 0, name, "the same answer at the second call");
    free(two);
    two = repeatable_json(second);
    three = repeatable_json(third);
    expect(two != NULL && three != NULL && strcmp(two, three) == 0, name,
           "the same bytes at the third call");
    free(one);
    free(two);
    free(three);
  }
  assay_doc_free(second);
  assay_doc_free(third);
}

/* Checks one document of a transcript; `context` is the case's name. */
static void check_step(void *context, const cJSON *wanted, assay_status status,
                       const assay_doc *doc) {
  const char *name = context;
  cJSON *root;
  expect_text(assay_status_name(status), json_text(wanted, "status", ""), name,
              "status of a step");
  if (!expect(doc != NULL, name, "a step has a document")) return;
  root = check_envelope(doc, status, name);
  check_expected(doc, root, wanted, name);
  cJSON_Delete(root);
}

/* Checks the steps of a transcript; the document after the last is the
 * case's. */
static void check_transcript(const struct case_table *table, const cJSON *item,
                             const char *name) {
  assay_status status = -1;
  assay_doc *doc = NULL;
  expect(case_play(table, item, check_step, (void *)name, &status, &doc) == 0,
         name, "the transcript can be played");
  assay_doc_free(doc);
}

/* Checks that assay_call returns the same as assay_exchange_new, unless the
 * request's kind takes steps. */
static void check_at_once(const struct case_table *table, const cJSON *item,
                          const assay_doc *doc, const char *name) {
  assay_status status = -1;
  assay_doc *called = NULL;
  char *one, *two;
  if (!expect(case_call(table, item, &status, &called) == 0, name,
              "the call can be made"))
    return;
  if (strcmp(assay_status_name(status), "misuse.exchange.operation") != 0) {
    one = repeatable_json(doc);
    two = repeatable_json(called);
    expect(one != NULL && two != NULL && strcmp(one, two) == 0, name,
           "assay_call gives the same document");
    free(one);
    free(two);
  }
  assay_doc_free(called);
}

static void test_case(const struct case_table *table, const cJSON *item) {
  const char *name = json_text(item, "name", "(a case without a name)");
  const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
  int has_doc = strcmp(json_text(item, "call", ""), "check_expiry") != 0;
  assay_status status = -1;
  assay_doc *doc = NULL;
  cJSON *root;
  if (!expect(case_run(table, item, &status, &doc) == 0, name,
              "the case can be run"))
    return;
  if (!expect_text(assay_status_name(status), json_text(wanted, "status", ""),
                   name, "status") &&
      doc != NULL)
    printf("       %s\n", assay_doc_json(doc, NULL));
  if (!has_doc) return;
  if (!expect(doc != NULL, name, "a document came")) return;
  root = check_envelope(doc, status, name);
  check_expected(doc, root, wanted, name);
  cJSON_Delete(root);
  check_repeatable(table, item, doc, name);
  if (strcmp(json_text(item, "call", ""), "exchange") == 0)
    check_at_once(table, item, doc, name);
  assay_doc_free(doc);
  if (strcmp(json_text(item, "call", ""), "transcript") == 0)
    check_transcript(table, item, name);
}

/* Whether the chain of a case was already known to a verifier that is made for
 * this call and freed; -1 if the case could not be run. */
static int is_cached_anew(const struct case_table *table, const cJSON *item) {
  struct case_table own;
  assay_doc *doc = NULL;
  assay_status status = -1;
  int cached = -1;
  case_table_share(&own, table);
  if (case_table_build(&own, json_text(item, "verifier", "")) == 0 &&
      case_run(&own, item, &status, &doc) == 0 && status == ASSAY_OK)
    cached = strstr(assay_doc_json(doc, NULL), "\"cached\":true") != NULL;
  assay_doc_free(doc);
  case_table_close(&own);
  return cached;
}

/* Checks that proofs of a verifier outlive it, unless it keeps none
 * (JWS-66). */
static void test_proofs_outlive(const struct case_table *table,
                                const char *verifier, int kept) {
  const cJSON *item;
  cJSON_ArrayForEach(item, table->cases) {
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
    if (strcmp(json_text(item, "call", ""), "verify_jws") != 0 ||
        strcmp(json_text(item, "verifier", ""), verifier) != 0 ||
        strcmp(json_text(wanted, "status", ""), "ok") != 0)
      continue;
    expect(is_cached_anew(table, item) >= 0, verifier, "a case can be run");
    expect(is_cached_anew(table, item) == kept, verifier,
           kept ? "the next verifier knows the chain"
                : "the next verifier proves the chain itself");
    return;
  }
  expect(0, verifier, "has a good JWS");
}

/* ---- tokens ------------------------------------------------------------- */

/* A public key whose private key is public: the curve's generator. */
static const char KEYSET[] =
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"g\","
    "\"x\":\"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY\","
    "\"y\":\"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU\"}]}";
static const char TOKENS[] =
    "{\"apps\":[{\"bundleId\":\"com.example.app\",\"appAppleId\":1}],"
    "\"tokens\":[{\"profile\":\"jwt\",\"algorithm\":\"ES256\","
    "\"issuers\":[\"https://a.example\"],\"audiences\":[\"x\"]}]}";

static assay_status make_keyset(const char *text, size_t len, void **out,
                                assay_doc **doc) {
  assay_keyset *made = GARBAGE;
  assay_status status =
      assay_keyset_new(text, len, out == NULL ? NULL : &made, doc);
  if (out != NULL) *out = made;
  return status;
}

static void free_keyset(void *made) { assay_keyset_free(made); }

static void test_keyset_new(void) {
  static char large[300000]; /* more than the cap */
  static const struct maker maker = {"assay_keyset_new", "keyset", make_keyset,
                                     free_keyset};
  static const struct text_row rows[] = {
      {"nothing", "", 0, "malformed.json.syntax"},
      {"NULL and nothing", NULL, 0, "malformed.json.syntax"},
      {"NULL with a length", NULL, 5, "misuse.call.argument"},
      {"a length beyond all memory", "{}", SIZE_MAX, "misuse.call.argument"},
      {"half of all memory", large, SIZE_MAX / 2, "too-large.jwks.size"},
      {"too long", large, sizeof large, "too-large.jwks.size"},
      {"an empty object", "{}", 2, "malformed.jwks.form"},
      {"without its last byte", KEYSET, sizeof KEYSET - 2,
       "malformed.json.syntax"},
      {"a key", KEYSET, sizeof KEYSET - 1, "ok"},
  };
  size_t i;
  for (i = 0; i < COUNT(rows); i++) check_maker(&maker, &rows[i]);
  assay_keyset_free(NULL);
}

struct token_call {
  const char *name, *token;
  size_t len;
  int64_t now_ms;
  const char *status;
};

/* The key set that call_token uses. */
static assay_keyset *token_keys;

static assay_status call_token(const assay_verifier *verifier,
                               const void *given, assay_doc **doc) {
  const struct token_call *row = given;
  return assay_verify_token(verifier, token_keys, row->token, row->len,
                            row->now_ms, doc);
}

static void test_verify_token(void) {
  static char large[1 << 20]; /* more than any cap */
  static const char form[] = "e30.e30.YQ";
  static const struct token_call rows[] = {
      {"nothing", "", 0, NOW, "malformed.token.form"},
      {"NULL and nothing", NULL, 0, NOW, "malformed.token.form"},
      {"NULL with a length", NULL, 5, NOW, "misuse.call.argument"},
      {"NUL bytes", "\0.\0.\0", 5, NOW, "malformed.token.form"},
      {"a length beyond all memory", form, SIZE_MAX, NOW,
       "misuse.call.argument"},
      {"half of all memory", large, SIZE_MAX / 2, NOW, "too-large.token.size"},
      {"a megabyte", large, sizeof large, NOW, "too-large.token.size"},
      {"three segments", form, 10, NOW, "malformed.token.alg"},
      {"now 0", form, 10, 0, "misuse.call.now"},
      {"now INT64_MIN", form, 10, INT64_MIN, "misuse.call.now"},
      {"now INT64_MAX", form, 10, INT64_MAX, "misuse.call.now"},
  };
  assay_verifier *verifier = NULL;
  assay_keyset *keys = NULL;
  size_t i;
  expect(assay_verifier_new(TOKENS, strlen(TOKENS), &verifier, NULL) ==
                 ASSAY_OK &&
             assay_keyset_new(KEYSET, strlen(KEYSET), &keys, NULL) == ASSAY_OK,
         "assay_verify_token", "verifier and key set are made");
  for (i = 0; i < COUNT(rows); i++) {
    token_keys = keys;
    check_call(call_token, verifier, &rows[i], rows[i].status, "token",
               "assay_verify_token", rows[i].name);
    check_call(call_token, NULL, &rows[i], "misuse.call.argument", "token",
               "assay_verify_token without a verifier", rows[i].name);
    token_keys = NULL;
    check_call(call_token, verifier, &rows[i], "misuse.call.argument", "token",
               "assay_verify_token without keys", rows[i].name);
  }
  assay_keyset_free(keys);
  assay_verifier_free(verifier);
}

int main(int argc, char **argv) {
  const char *suite = argc > 2 ? argv[2] : "smoke";
  struct case_table table;
  assay_verifier *verifier = NULL;
  const cJSON *item;
  long functions, number = 0;
  if (argc < 2) {
    fputs("usage: smoke CASES.json [SUITE]\n", stderr);
    return 2;
  }
  test_library();
  test_status_names();
  test_null_document();
  test_getters();
  test_verifier_new();
  test_check_expiry();
  if (expect(assay_verifier_new(CONFIG, strlen(CONFIG), &verifier, NULL) ==
                 ASSAY_OK,
             "assay_verifier_new", "the verifier of the tests is made")) {
    test_verify_jws(verifier);
    test_verify_receipt(verifier);
    test_text_calls(verifier);
    test_decide(verifier);
    test_reused_variable(verifier);
    test_exchange_new(verifier);
    test_exchange_step();
    test_keys();
    test_keyset_new();
    test_verify_token();
    assay_verifier_free(verifier);
  }
  functions = passed + failed;
  if (expect(case_table_open(&table, argv[1]) == 0, "case table",
             "can be read")) {
    cJSON_ArrayForEach(item, table.cases) {
      test_case(&table, item);
      number++;
    }
    test_proofs_outlive(&table, "standard", 1);
    test_proofs_outlive(&table, "no-cache", 0);
    printf("%ld expectations of the functions, %ld of %ld cases\n", functions,
           passed + failed - functions, number);
  }
  case_table_close(&table);
  return finish(suite);
}
