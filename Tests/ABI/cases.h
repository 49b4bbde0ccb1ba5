/*
 * cases.h - the case table, for the C programs of this folder.
 *
 * A case table is the JSON file that `make cases` writes: verifiers by name,
 * and cases, each with a call, its input and its expected result. The programs
 * read it with cJSON.
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

/** Input bytes; exactly len of them are allocated, so that AddressSanitizer and
 * valgrind report a read past the end. */
struct bytes {
  char *data;
  size_t len;
};

/**
 * Reads a case table and builds its verifiers. Returns 0 on success, else after
 * printing the reason.
 *
 * For a slow program, under an emulator for example, ASSAY_EVERY=50 in the
 * environment keeps only the first case of each call, kind and expected status,
 * of accepted cases for each verifier, and every 50th of the others.
 */
int case_table_open(struct case_table *table, const char *path);
/** Reads a case table without calling the library. Returns 0 on success, else
 * after printing the reason. */
int case_table_read(struct case_table *table, const char *path);
/** Builds one verifier that has not been built yet. Returns 0 on success. */
int case_table_build(struct case_table *table, const char *name);
/** Makes `own` a table with the cases of `table`, which must outlive it, and no
 * verifiers. Closed with case_table_close. */
void case_table_share(struct case_table *own, const struct case_table *table);
/** Builds a verifier for each configuration. Returns 0 on success, else after
 * printing the reason. */
int case_table_build_all(struct case_table *table);
/** Frees the verifiers. */
void case_table_clear(struct case_table *table);
/** Frees everything. */
void case_table_close(struct case_table *table);

/** Returns the JSON of a document without signatures, which differ at each
 * call; to be freed. NULL if `doc` is NULL. */
char *repeatable_json(const assay_doc *doc);

/** Returns the verifier of a name, or NULL. */
assay_verifier *case_table_verifier(const struct case_table *table,
                                    const char *name);

/** Returns the text of a member; `fallback` if it is absent or not a string. */
const char *json_text(const cJSON *object, const char *name,
                      const char *fallback);
/** Returns an integer, such as a time, from a number or a decimal string; else
 * `fallback`. */
int64_t json_int(const cJSON *object, const char *name, int64_t fallback);
/** Returns the value at a dotted path ("decision.groups.0.state"), or NULL. */
const cJSON *json_at(const cJSON *root, const char *path);

/** Returns the ASSAY_JWS_ constant of a kind's name; 0 if there is none. */
int32_t kind_of(const char *name);
/** Returns the ASSAY_RECEIPT_ constant of a kind's name; 0 if there is none. */
int32_t receipt_kind_of(const char *name);
/** Reads the bytes of NAME, NAMEBase64 or NAMERepeat. Returns 0 on success. */
int case_input(const cJSON *item, const char *name, struct bytes *out);
/** Frees the bytes. */
void bytes_free(struct bytes *bytes);

/** Verifies one piece of evidence of any kind, as for `decide`. Returns 0 on
 * success. */
int case_verify(const assay_verifier *verifier, const cJSON *item,
                int64_t now_ms, assay_status *status, assay_doc **doc);

/** Receives the expected and the actual document before each reply. */
typedef void case_step_seen(void *context, const cJSON *wanted,
                            assay_status status, const assay_doc *doc);
/**
 * Runs the transcript of a case.
 * @param seen is called before each reply; may be NULL.
 * @param doc  receives the document after the last reply.
 * @return 0 if it ran to its end.
 */
int case_play(const struct case_table *table, const cJSON *item,
              case_step_seen *seen, void *context, assay_status *status,
              assay_doc **doc);

/**
 * Make the call of a case: case_run the one that the case names, case_call its
 * request as a call that takes no steps.
 * @param doc receives the document; NULL for calls that have none.
 * @return 0 if the case could be run, else the case is invalid.
 */
int case_call(const struct case_table *table, const cJSON *item,
              assay_status *status, assay_doc **doc);
int case_run(const struct case_table *table, const cJSON *item,
             assay_status *status, assay_doc **doc);

/** Whether a case gives the status that the table names; prints another one. */
int case_holds(const struct case_table *table, const cJSON *item);

#endif /* ASSAY_TESTS_CASES_H */
