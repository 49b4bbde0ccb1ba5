/* sqlite_step.c - see sqlite_step.h. */
#include "sqlite_step.h"

#include <stdio.h>
#include <string.h>

/* A value of a row that is neither text, integer nor NULL. The library takes
 * no row that it does not understand. */
static const char *const no_value = "{}";

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

static cJSON *value_of(sqlite3_stmt *statement, int column) {
  char digits[24];
  const char *text;
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return cJSON_CreateNull();
    case SQLITE_INTEGER:
      snprintf(digits, sizeof digits, "%lld",
               (long long)sqlite3_column_int64(statement, column));
      return cJSON_CreateRaw(digits);
    case SQLITE_TEXT:
      text = (const char *)sqlite3_column_text(statement, column);
      return text == NULL ? NULL : cJSON_CreateString(text);
    default:
      return cJSON_CreateRaw(no_value);
  }
}

/* Adds an item, which may be NULL, to an array; 0: out of memory. */
static int add(cJSON *array, cJSON *item) {
  if (array != NULL && item != NULL && cJSON_AddItemToArray(array, item))
    return 1;
  cJSON_Delete(item);
  return 0;
}

static int add_row(cJSON *rows, sqlite3_stmt *statement) {
  cJSON *row = cJSON_CreateArray();
  int column, count = sqlite3_column_count(statement);
  for (column = 0; column < count; column++) {
    if (!add(row, value_of(statement, column))) {
      cJSON_Delete(row);
      return 0;
    }
  }
  return add(rows, row);
}

/* ---- calls --------------------------------------------------------------- */

/* Runs a statement to its end; an SQLite code. */
static int run_to_end(sqlite3_stmt *statement, cJSON *rows) {
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    if (rows != NULL && !add_row(rows, statement)) return SQLITE_NOMEM;
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Carries out one call, and adds its result; an SQLite code. */
static int run_call(sqlite3 *db, const cJSON *call, cJSON *results) {
  const cJSON *sql = member(call, "sql"), *value;
  cJSON *result = cJSON_CreateObject(), *rows = NULL;
  sqlite3_stmt *statement = NULL;
  int place = 0, code = SQLITE_MISUSE;
  if (cJSON_IsTrue(member(call, "rows")))
    rows = cJSON_AddArrayToObject(result, "rows");
  if (cJSON_IsString(sql))
    code = sqlite3_prepare_v2(db, sql->valuestring, -1, &statement, NULL);
  cJSON_ArrayForEach(value, member(call, "args")) {
    if (code == SQLITE_OK) code = bind_value(statement, ++place, value);
  }
  if (code == SQLITE_OK) code = run_to_end(statement, rows);
  sqlite3_finalize(statement);
  if (code != SQLITE_OK)
    cJSON_Delete(result);
  else if (!add(results, result))
    code = SQLITE_NOMEM;
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
static void add_failure(cJSON *answer, int code, int was_undone) {
  cJSON *error = cJSON_AddObjectToObject(answer, "error");
  char digits[12];
  /* The first byte of an extended code is the code. */
  snprintf(digits, sizeof digits, "%d", code & 0xff);
  cJSON_AddNumberToObject(answer, "code", 500);
  cJSON_AddStringToObject(
      error, "code", (code & 0xff) == SQLITE_READONLY ? "standby" : digits);
  cJSON_AddStringToObject(error, "executed", was_undone ? "no" : "unknown");
}

cJSON *carry_out_store(sqlite3 *db, const cJSON *step) {
  cJSON *answer = cJSON_CreateObject(), *results = cJSON_CreateArray();
  const cJSON *call, *id = member(step, "id");
  int code = enter(db, step), was_undone;
  if (answer == NULL || results == NULL) code = SQLITE_NOMEM;
  cJSON_ArrayForEach(call, member(step, "run")) {
    if (code == SQLITE_OK) code = run_call(db, call, results);
  }
  was_undone = !sqlite3_get_autocommit(db) || cJSON_GetArraySize(results) == 0;
  if (code == SQLITE_OK && is_marked(step, "commit") &&
      !run_statement(db, "COMMIT"))
    code = sqlite3_errcode(db);
  cJSON_AddNumberToObject(answer, "id", cJSON_GetNumberValue(id));
  if (code == SQLITE_OK &&
      cJSON_AddNumberToObject(answer, "code", 200) != NULL &&
      cJSON_AddItemToObject(answer, "results", results))
    return answer;
  cJSON_Delete(results);
  roll_back(db);
  if (answer != NULL) add_failure(answer, code, was_undone);
  return answer;
}
