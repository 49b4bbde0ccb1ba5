/* sqlite_step.c - see sqlite_step.h. */
#include "sqlite_step.h"

#include <stdio.h>
#include <string.h>

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
  /* A full disk, say, has rolled back already. */
  if (!sqlite3_get_autocommit(db)) run_statement(db, "ROLLBACK");
}

sqlite3 *open_database(const char *path) {
  sqlite3 *db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path, &db, flags, NULL) == SQLITE_OK &&
      sqlite3_busy_timeout(db, 5000) == SQLITE_OK &&
      run_statement(db, "PRAGMA journal_mode = WAL") &&
      run_statement(db, "PRAGMA synchronous = FULL"))
    return db;
  fprintf(stderr, "%s: %s\n", path,
          db == NULL ? "out of memory" : sqlite3_errmsg(db));
  sqlite3_close(db);
  return NULL;
}

/* ---- values -------------------------------------------------------------- */

/* The value must outlive the statement. */
static int bind_value(sqlite3_stmt *statement, int place, const cJSON *value) {
  if (cJSON_IsString(value))
    return sqlite3_bind_text(statement, place, value->valuestring, -1,
                             SQLITE_STATIC);
  /* A double holds the integers of the library exactly: below 2^53. */
  if (cJSON_IsNumber(value))
    return sqlite3_bind_int64(statement, place,
                              (sqlite3_int64)value->valuedouble);
  return sqlite3_bind_null(statement, place);
}

/* A text as JSON has it. */
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
  else /* The library takes no row with a value that it does not understand. */
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

/* ---- calls --------------------------------------------------------------- */

/* Runs a statement to its end; an SQLite code. */
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

/* Carries out one call, and adds its result; an SQLite code. */
static int run_call(sqlite3 *db, const cJSON *call, sqlite3_str *answer) {
  const cJSON *sql = member(call, "sql"), *value;
  int has_rows = cJSON_IsTrue(member(call, "rows"));
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

/* Whether a step has this mark, or `whole`: begin and commit. */
static int is_marked(const cJSON *step, const char *mark) {
  return has_text(step, "transaction", mark) ||
         has_text(step, "transaction", "whole");
}

/* Opens a transaction, or makes sure that one is open; an SQLite code. */
static int enter(sqlite3 *db, const cJSON *step) {
  int is_outside = sqlite3_get_autocommit(db);
  int begins = is_marked(step, "begin");
  if (!cJSON_IsString(member(step, "transaction"))) return SQLITE_OK;
  if (begins != is_outside) return SQLITE_MISUSE;
  return !begins || run_statement(db, "BEGIN IMMEDIATE") ? SQLITE_OK
                                                         : sqlite3_errcode(db);
}

/* ---- answers ------------------------------------------------------------- */

/* What the engine said. Its text is left out: it may quote values. */
static char *failure(sqlite3_int64 id, int code, int was_undone) {
  char digits[12];
  /* The first byte of an extended code is the code. */
  snprintf(digits, sizeof digits, "%d", code & 0xff);
  return sqlite3_mprintf(
      "{\"id\":%lld,\"code\":500,\"error\":{\"code\":\"%s\",\"executed\":\"%s\"}}",
      id, (code & 0xff) == SQLITE_READONLY ? "standby" : digits,
      was_undone ? "no" : "unknown");
}

char *carry_out_store(sqlite3 *db, const cJSON *step) {
  sqlite3_int64 id = (sqlite3_int64)cJSON_GetNumberValue(member(step, "id"));
  sqlite3_str *answer = sqlite3_str_new(db);
  const cJSON *call;
  int code = enter(db, step), done = 0, was_undone;
  sqlite3_str_appendf(answer, "{\"id\":%lld,\"code\":200,\"results\":[", id);
  cJSON_ArrayForEach(call, member(step, "run")) {
    if (code != SQLITE_OK) break;
    if (done > 0) sqlite3_str_appendchar(answer, 1, ',');
    code = run_call(db, call, answer);
    if (code == SQLITE_OK) done++;
  }
  sqlite3_str_appendall(answer, "]}");
  if (code == SQLITE_OK) code = sqlite3_str_errcode(answer);
  was_undone = !sqlite3_get_autocommit(db) || done == 0;
  if (code == SQLITE_OK && is_marked(step, "commit") &&
      !run_statement(db, "COMMIT"))
    code = sqlite3_errcode(db);
  if (code == SQLITE_OK) return sqlite3_str_finish(answer);
  sqlite3_free(sqlite3_str_finish(answer));
  roll_back(db);
  return failure(id, code, was_undone);
}
