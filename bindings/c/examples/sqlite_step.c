/* sqlite_step.c - see sqlite_step.h. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "sqlite_step.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The savepoint that identifies the ledger's transaction after a grant. */
#define SAVEPOINT "assay_grant"

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

static int has_text(const cJSON *object, const char *name, const char *text) {
  const cJSON *item = member(object, name);
  return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

int run_statement(sqlite3 *db, const char *sql) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

void roll_back(sqlite3 *db) {
  /* Some errors, as a full disk, have already rolled back. */
  if (!sqlite3_get_autocommit(db)) run_statement(db, "ROLLBACK");
}

/* Whether a path names the same file from every folder. */
static int is_named_wholly(const char *path) {
  return path[0] == '/' || strncmp(path, "./", 2) == 0 ||
         strcmp(path, ":memory:") == 0;
}

static sqlite3 *opened(const char *path, int flags) {
  sqlite3 *db = NULL;
  const char *why = "the path is to be absolute, or to begin with ./";
  if (is_named_wholly(path)) {
    /* secure_delete overwrites the text of deleted rows (STO-93). */
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | flags, NULL) ==
            SQLITE_OK &&
        sqlite3_busy_timeout(db, 2000) == SQLITE_OK &&
        run_statement(db, "PRAGMA journal_mode = WAL") &&
        run_statement(db, "PRAGMA synchronous = FULL") &&
        run_statement(db, "PRAGMA secure_delete = FAST"))
      return db;
    why = db == NULL ? "out of memory" : sqlite3_errmsg(db);
  }
  fprintf(stderr, "%s: %s\n", path, why);
  sqlite3_close(db);
  return NULL;
}

sqlite3 *open_database(const char *path) { return opened(path, 0); }

sqlite3 *create_database(const char *path) {
  return opened(path, SQLITE_OPEN_CREATE);
}

/* ---- values -------------------------------------------------------------- */

/* Binds a value, which must outlive the statement. */
static int bind_value(sqlite3_stmt *statement, int place, const cJSON *value) {
  if (cJSON_IsString(value))
    return sqlite3_bind_text(statement, place, value->valuestring, -1,
                             SQLITE_STATIC);
  /* A double is exact for the integers of the library, which are below 2^53. */
  if (cJSON_IsNumber(value))
    return sqlite3_bind_int64(statement, place,
                              (sqlite3_int64)value->valuedouble);
  return sqlite3_bind_null(statement, place);
}

/* Appends a JSON string. */
static void append_text(sqlite3_str *answer, const char *text, int length) {
  int at, copied = 0;
  sqlite3_str_appendchar(answer, 1, '"');
  for (at = 0; at < length; at++) {
    unsigned char byte = (unsigned char)text[at];
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    sqlite3_str_append(answer, text + copied, at - copied);
    sqlite3_str_appendf(answer, "\\u%04x", byte);
    copied = at + 1;
  }
  sqlite3_str_append(answer, text + copied, length - copied);
  sqlite3_str_appendchar(answer, 1, '"');
}

static void append_value(sqlite3_str *answer, sqlite3_stmt *statement,
                         int column) {
  const char *text = NULL;
  int type = sqlite3_column_type(statement, column);
  if (type == SQLITE_TEXT)
    text = (const char *)sqlite3_column_text(statement, column);
  if (text != NULL)
    append_text(answer, text, sqlite3_column_bytes(statement, column));
  else if (type == SQLITE_INTEGER)
    sqlite3_str_appendf(answer, "%lld",
                        sqlite3_column_int64(statement, column));
  else /* The library refuses a row with a value of another type. */
    sqlite3_str_appendall(answer, type == SQLITE_NULL ? "null" : "{}");
}

static void append_row(sqlite3_str *answer, sqlite3_stmt *statement) {
  int column, count = sqlite3_column_count(statement);
  for (column = 0; column < count; column++) {
    sqlite3_str_appendchar(answer, 1, column == 0 ? '[' : ',');
    append_value(answer, statement, column);
  }
  sqlite3_str_appendchar(answer, 1, ']');
}

/* ---- limits (STO-76) ----------------------------------------------------- */

static int64_t monotonic_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t limit_ms(const cJSON *step, const char *name,
                        int64_t otherwise) {
  const cJSON *limit = member(member(step, "limits"), name);
  return cJSON_IsNumber(limit) && limit->valuedouble >= 1
             ? (int64_t)limit->valuedouble
             : otherwise;
}

/* SQLite's progress handler; a value other than 0 ends the statement. */
static int is_late(void *deadline) {
  return monotonic_ms() > *(const int64_t *)deadline;
}

/* ---- calls --------------------------------------------------------------- */

/* Runs a statement to its end; returns an SQLite code. */
static int run_to_end(sqlite3_stmt *statement, int has_rows,
                      sqlite3_str *answer) {
  int code, count = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (!has_rows) continue;
    if (count++ > 0) sqlite3_str_appendchar(answer, 1, ',');
    append_row(answer, statement);
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Runs one call and appends its result; returns an SQLite code. */
static int run_call(sqlite3 *db, const cJSON *call, sqlite3_str *answer) {
  const cJSON *sql = member(call, "sql"), *value;
  int has_rows = cJSON_IsTrue(member(call, "returnsRows"));
  int place = 0, code = SQLITE_MISUSE;
  sqlite3_stmt *statement = NULL;
  if (cJSON_IsString(sql))
    code = sqlite3_prepare_v2(db, sql->valuestring, -1, &statement, NULL);
  cJSON_ArrayForEach(value, member(call, "args")) {
    if (code == SQLITE_OK) code = bind_value(statement, ++place, value);
  }
  sqlite3_str_appendall(answer, has_rows ? "{\"rows\":[" : "{");
  if (code == SQLITE_OK) code = run_to_end(statement, has_rows, answer);
  sqlite3_str_appendall(answer, has_rows ? "]}" : "}");
  sqlite3_finalize(statement);
  return code;
}

/* Whether `transaction` of a step is this, or `single`: begin and commit. */
static int is_marked(const cJSON *step, const char *mark) {
  return has_text(step, "transaction", mark) ||
         has_text(step, "transaction", "single");
}

/* Begins a transaction, or checks that one is open; returns an SQLite code. */
static int enter(sqlite3 *db, const cJSON *step) {
  int is_outside = sqlite3_get_autocommit(db);
  int begins = is_marked(step, "begin");
  if (!cJSON_IsString(member(step, "transaction"))) return SQLITE_OK;
  if (begins != is_outside) return SQLITE_MISUSE;
  return !begins || run_statement(db, "BEGIN IMMEDIATE") ? SQLITE_OK
                                                         : sqlite3_errcode(db);
}

/* ---- replies ------------------------------------------------------------- */

/* Returns the reply with the engine's code; its message may quote values. */
static char *failure(sqlite3_int64 id, int code, int was_undone) {
  char digits[12];
  /* The low byte of an extended code is the code. */
  snprintf(digits, sizeof digits, "%d", code & 0xff);
  return sqlite3_mprintf(
      "{\"id\":%lld,\"code\":500,\"error\":{\"code\":\"%s\",\"executed\":\"%s\"}}",
      id, (code & 0xff) == SQLITE_READONLY ? "standby" : digits,
      was_undone ? "no" : "unknown");
}

char *run_database_step(sqlite3 *db, const cJSON *step) {
  sqlite3_int64 id = (sqlite3_int64)cJSON_GetNumberValue(member(step, "id"));
  sqlite3_str *answer = sqlite3_str_new(db);
  int64_t statement_ms = limit_ms(step, "statementMs", 5000), deadline = 0;
  const cJSON *call;
  int code, done = 0, was_undone, is_inside;
  sqlite3_busy_timeout(db, (int)limit_ms(step, "lockMs", 2000));
  code = enter(db, step);
  is_inside = !sqlite3_get_autocommit(db);
  sqlite3_progress_handler(db, 1000, is_late, &deadline);
  sqlite3_str_appendf(answer, "{\"id\":%lld,\"code\":200,\"results\":[", id);
  cJSON_ArrayForEach(call, member(step, "calls")) {
    if (code != SQLITE_OK) break;
    if (done > 0) sqlite3_str_appendchar(answer, 1, ',');
    deadline = monotonic_ms() + statement_ms;
    code = run_call(db, call, answer);
    if (code == SQLITE_OK) done++;
  }
  sqlite3_progress_handler(db, 0, NULL, NULL);
  sqlite3_str_appendall(answer, "]}");
  if (code == SQLITE_OK) code = sqlite3_str_errcode(answer);
  /* An interrupted statement may have rolled back the transaction. */
  was_undone = is_inside || done == 0;
  if (code == SQLITE_OK && is_marked(step, "commit") &&
      !run_statement(db, "COMMIT"))
    code = sqlite3_errcode(db);
  if (code == SQLITE_OK) return sqlite3_str_finish(answer);
  sqlite3_free(sqlite3_str_finish(answer));
  roll_back(db);
  return failure(id, code, was_undone);
}

/* ---- grants (STO-38) ----------------------------------------------------- */

/* Allows only statements that begin or end no transaction, and savepoints of
 * other names. */
static int authorized(void *hits, int action, const char *operation,
                      const char *name, const char *database,
                      const char *trigger) {
  (void)operation, (void)database, (void)trigger;
  if (action != SQLITE_TRANSACTION &&
      (action != SQLITE_SAVEPOINT || name == NULL ||
       sqlite3_stricmp(name, SAVEPOINT) != 0))
    return SQLITE_OK;
  ++*(int *)hits;
  return SQLITE_DENY;
}

int enter_grant(sqlite3 *db, int *hits) {
  *hits = 0;
  return run_statement(db, "SAVEPOINT " SAVEPOINT) &&
         sqlite3_set_authorizer(db, authorized, hits) == SQLITE_OK;
}

char *leave_grant(sqlite3 *db, sqlite3_int64 id, const int *hits,
                  int is_granted) {
  int is_same;
  sqlite3_set_authorizer(db, NULL, NULL);
  /* A savepoint ends with its transaction. */
  is_same = *hits == 0 && !sqlite3_get_autocommit(db) &&
            run_statement(db, "RELEASE " SAVEPOINT);
  if (!is_same || !is_granted) roll_back(db);
  if (!is_same)
    return sqlite3_mprintf(
        "{\"id\":%lld,\"code\":500,\"error\":"
        "{\"code\":\"transaction\",\"executed\":\"unknown\"}}",
        id);
  return sqlite3_mprintf("{\"id\":%lld,\"code\":%d}", id,
                         is_granted ? 200 : 500);
}
