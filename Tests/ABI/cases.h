/*
 * cases.h - the case table, as the C programs of this folder use it.
 *
 * A case table is the JSON file that `make cases` writes:
 * verifiers by name, and cases that each say which call to make with which
 * input, and what the result must be. The programs read it with cJSON.
 */
#ifndef ASSAY_TESTS_CASES_H
#define ASSAY_TESTS_CASES_H

#include <assay.h>
#include <cjson/cJSON.h>
#include <stddef.h>

/** A case table in memory, and the verifiers that its cases name. */
struct case_table {
  cJSON *root;
  int root_is_shared;
  const cJSON *cases;
  size_t verifier_count;
  const char **verifier_names;
  assay_verifier **verifiers;
};

/** Input bytes; exactly len of them are allocated, so that reading past the
 * end is seen by AddressSanitizer and valgrind. */
struct bytes {
  char *data;
  size_t len;
};

/**
 * Read a case table and build its verifiers. 0: done; else it said why.
 *
 * Where a program takes long, under an emulator for example, ASSAY_EVERY=50 in
 * the environment leaves of the cases the first of each call, kind and expected
 * status, those accepted for each verifier, and every 50th of the others.
 */
int case_table_open(struct case_table *table, const char *path);
/** Read a case table without calling the library. 0: done; else it said why. */
int case_table_read(struct case_table *table, const char *path);
/** Build one of the verifiers, that has not been built. 0: done. */
int case_table_build(struct case_table *table, const char *name);
/** The same cases for `own`, without verifiers. Closed with case_table_close;
 * the cases are those of `table`, which lives longer. */
void case_table_share(struct case_table *own, const struct case_table *table);
/** Build a verifier for each configuration. 0: done; else it said why. */
int case_table_build_all(struct case_table *table);
/** Free the verifiers. */
void case_table_clear(struct case_table *table);
/** Free everything. */
void case_table_close(struct case_table *table);

/** The JSON of a document without its signatures, which are other ones at each call; to
 * be freed. NULL for no document. */
char *repeatable_json(const assay_doc *doc);

/** The verifier of a name, or NULL. */
assay_verifier *case_table_verifier(const struct case_table *table,
                                    const char *name);

/** The text of a member, or fallback when it is absent or not a string. */
const char *json_text(const cJSON *object, const char *name,
                      const char *fallback);
/** A time or another integer: a number, a decimal string, or fallback. */
int64_t json_int(const cJSON *object, const char *name, int64_t fallback);
/** The value at a dotted path ("decision.groups.0.state"), or NULL. */
const cJSON *json_at(const cJSON *root, const char *path);

/** The ASSAY_JWS_ constant of a kind's name; 0 when there is none. */
int32_t kind_of(const char *name);
/** The ASSAY_RECEIPT_ constant of a kind's name; 0 when there is none. */
int32_t receipt_kind_of(const char *name);
/** The bytes of NAME, NAMEBase64 or NAMERepeat. 0: done. */
int case_input(const cJSON *item, const char *name, struct bytes *out);
/** Free the bytes. */
void bytes_free(struct bytes *bytes);

/** Verify one piece of evidence of any kind, as `decide` has it. 0: done. */
int case_verify(const assay_verifier *verifier, const cJSON *item,
                int64_t now_ms, assay_status *status, assay_doc **doc);

/** Is shown what the document before an answer must be, and what it is. */
typedef void case_step_seen(void *context, const cJSON *wanted,
                            assay_status status, const assay_doc *doc);
/**
 * Play the transcript of a case.
 * @param seen is called before each answer; NULL: nobody looks.
 * @param doc  receives the document after the last answer.
 * @return 0 when it could be played to its end.
 */
int case_play(const struct case_table *table, const cJSON *item,
              case_step_seen *seen, void *context, assay_status *status,
              assay_doc **doc);

/**
 * Make the call that a case asks for.
 * @param doc receives the document; NULL for calls that have none.
 * @return 0 when the case could be run, else it could not be understood.
 */
/* The same request of an exchange as a call that takes no steps. */
int case_call(const struct case_table *table, const cJSON *item,
              assay_status *status, assay_doc **doc);
int case_run(const struct case_table *table, const cJSON *item,
             assay_status *status, assay_doc **doc);

/** Whether a case gives the status that the table names; what came instead is printed. */
int case_holds(const struct case_table *table, const cJSON *item);

#endif /* ASSAY_TESTS_CASES_H */
