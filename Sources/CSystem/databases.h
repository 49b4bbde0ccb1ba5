/* Databases for `assay migrate`, by the client libraries of this machine, which are asked
 * for only then: nothing is linked. */
#ifndef ASSAY_DATABASES_H
#define ASSAY_DATABASES_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** 1: the library has all functions, which stand in `out` in the order of their names. Functions
 * of a library are data to dlsym: POSIX has them the same size. */
static inline int system_functions(const char *library, const char *const *names, size_t count,
                                   void **out) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  size_t place;
  if (handle == NULL) return 0;
  for (place = 0; place < count; place++) {
    out[place] = dlsym(handle, names[place]);
    if (out[place] == NULL) return 0;
  }
  return 1;
}

/* ---- SQLite ---- */

typedef struct {
  int (*open)(const char *, void **, int, const char *);
  int (*close)(void *);
  int (*prepare)(void *, const char *, int, void **, const char **);
  int (*finalize)(void *);
  int (*parameters)(void *);
  int (*bind_integer)(void *, int, long long);
  int (*bind_null)(void *, int);
  int (*bind_text)(void *, int, const char *, int, void (*)(void *));
  int (*step)(void *);
  int (*columns)(void *);
  int (*type)(void *, int);
  long long (*integer)(void *, int);
  const unsigned char *(*text)(void *, int);
  int (*bytes)(void *, int);
  int (*autocommit)(void *);
  int (*busy)(void *, int);
  const char *(*error)(int);
  int (*read_only)(void *, const char *);
  int (*reset)(void *);
} system_sqlite;

enum {
  SYSTEM_SQLITE_ROW = 100,
  SYSTEM_SQLITE_DONE = 101,
  SYSTEM_SQLITE_INTEGER = 1,
  SYSTEM_SQLITE_NULL = 5,
  /* SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX: never CREATE. */
  SYSTEM_SQLITE_OPEN = 0x00010002
};

/** 1: libsqlite3 was found. */
static inline int system_sqlite_load(system_sqlite *out) {
  static const char *const names[] = {
      "sqlite3_open_v2",     "sqlite3_close_v2",    "sqlite3_prepare_v2",
      "sqlite3_finalize",    "sqlite3_bind_parameter_count",
      "sqlite3_bind_int64",  "sqlite3_bind_null",   "sqlite3_bind_text",
      "sqlite3_step",        "sqlite3_column_count", "sqlite3_column_type",
      "sqlite3_column_int64", "sqlite3_column_text", "sqlite3_column_bytes",
      "sqlite3_get_autocommit", "sqlite3_busy_timeout", "sqlite3_errstr",
      "sqlite3_db_readonly", "sqlite3_reset"};
  return system_functions("libsqlite3.so.0", names, sizeof names / sizeof *names,
                          (void **)out);
}

static inline int system_sqlite_open(const system_sqlite *sqlite, const char *path, void **out) {
  return sqlite->open(path, out, SYSTEM_SQLITE_OPEN, NULL);
}
static inline void system_sqlite_close(const system_sqlite *sqlite, void *database) {
  sqlite->close(database);
}
/** The code of SQLite; 21, misuse, if more than one statement is in the text. */
static inline int system_sqlite_prepare(const system_sqlite *sqlite, void *database,
                                        const char *text, void **out) {
  const char *end = NULL;
  int code = sqlite->prepare(database, text, -1, out, &end);
  return code == 0 && end != NULL && *end != 0 ? 21 : code;
}
static inline void system_sqlite_finalize(const system_sqlite *sqlite, void *statement) {
  sqlite->finalize(statement);
}
static inline void system_sqlite_reset(const system_sqlite *sqlite, void *statement) {
  sqlite->reset(statement);
}
static inline int system_sqlite_parameters(const system_sqlite *sqlite, void *statement) {
  return sqlite->parameters(statement);
}
static inline int system_sqlite_bind_integer(const system_sqlite *sqlite, void *statement,
                                             int place, long long value) {
  return sqlite->bind_integer(statement, place, value);
}
static inline int system_sqlite_bind_null(const system_sqlite *sqlite, void *statement,
                                          int place) {
  return sqlite->bind_null(statement, place);
}
/** SQLite copies the text. */
static inline int system_sqlite_bind_text(const system_sqlite *sqlite, void *statement, int place,
                                          const char *text, int count) {
  return sqlite->bind_text(statement, place, text, count, (void (*)(void *))(intptr_t)-1);
}
static inline int system_sqlite_step(const system_sqlite *sqlite, void *statement) {
  return sqlite->step(statement);
}
static inline int system_sqlite_columns(const system_sqlite *sqlite, void *statement) {
  return sqlite->columns(statement);
}
static inline int system_sqlite_type(const system_sqlite *sqlite, void *statement, int place) {
  return sqlite->type(statement, place);
}
static inline long long system_sqlite_integer(const system_sqlite *sqlite, void *statement,
                                              int place) {
  return sqlite->integer(statement, place);
}
/** The bytes of a text and how many; they live until the next step. */
static inline const unsigned char *system_sqlite_text(const system_sqlite *sqlite,
                                                      void *statement, int place, int *count) {
  const unsigned char *text = sqlite->text(statement, place);
  *count = sqlite->bytes(statement, place);
  return text;
}
static inline int system_sqlite_is_open(const system_sqlite *sqlite, void *database) {
  return sqlite->autocommit(database) == 0;
}
static inline void system_sqlite_busy(const system_sqlite *sqlite, void *database, int ms) {
  sqlite->busy(database, ms);
}
static inline const char *system_sqlite_error(const system_sqlite *sqlite, int code) {
  return sqlite->error(code & 0xff);
}
static inline int system_sqlite_read_only(const system_sqlite *sqlite, void *database) {
  return sqlite->read_only(database, "main");
}

/* ---- PostgreSQL ---- */

typedef struct {
  void *(*connect)(const char *);
  int (*status)(const void *);
  char *(*message)(const void *);
  void (*finish)(void *);
  void *(*execute)(void *, const char *, int, const unsigned *, const char *const *, const int *,
                   const int *, int);
  int (*result)(const void *);
  char *(*field)(const void *, int);
  int (*rows)(const void *);
  int (*columns)(const void *);
  int (*is_null)(const void *, int, int);
  char *(*value)(const void *, int, int);
  void (*clear)(void *);
} system_postgres;

enum { SYSTEM_POSTGRES_COMMAND = 1, SYSTEM_POSTGRES_ROWS = 2 };
enum { SYSTEM_POSTGRES_STATE = 'C', SYSTEM_POSTGRES_REASON = 'M' };

/** 1: libpq was found. */
static inline int system_postgres_load(system_postgres *out) {
  static const char *const names[] = {
      "PQconnectdb",    "PQstatus",  "PQerrorMessage", "PQfinish",     "PQexecParams",
      "PQresultStatus", "PQresultErrorField",          "PQntuples",    "PQnfields",
      "PQgetisnull",    "PQgetvalue", "PQclear"};
  return system_functions("libpq.so.5", names, sizeof names / sizeof *names, (void **)out);
}

/** A connection, also where it failed: see its message. */
static inline void *system_postgres_connect(const system_postgres *postgres, const char *url) {
  return postgres->connect(url);
}
static inline int system_postgres_is_open(const system_postgres *postgres,
                                          const void *connection) {
  return postgres->status(connection) == 0;
}
static inline const char *system_postgres_message(const system_postgres *postgres,
                                                  const void *connection) {
  return postgres->message(connection);
}
static inline void system_postgres_finish(const system_postgres *postgres, void *connection) {
  postgres->finish(connection);
}
/** The result of one statement with parameters as text; NULL among them is SQL's. */
static inline void *system_postgres_run(const system_postgres *postgres, void *connection,
                                        const char *sql, int count, const char *const *values) {
  return postgres->execute(connection, sql, count, NULL, values, NULL, NULL, 0);
}
/** 1: the statement ran. */
static inline int system_postgres_ran(const system_postgres *postgres, const void *result) {
  int status = postgres->result(result);
  return status == SYSTEM_POSTGRES_COMMAND || status == SYSTEM_POSTGRES_ROWS;
}
/** SYSTEM_POSTGRES_STATE or _REASON of a statement that did not run; NULL if the server sent none. */
static inline const char *system_postgres_field(const system_postgres *postgres,
                                                const void *result, int field) {
  return postgres->field(result, field);
}
static inline int system_postgres_rows(const system_postgres *postgres, const void *result) {
  return postgres->rows(result);
}
static inline int system_postgres_columns(const system_postgres *postgres, const void *result) {
  return postgres->columns(result);
}
/** A value as text; NULL: SQL's. */
static inline const char *system_postgres_value(const system_postgres *postgres,
                                                const void *result, int row, int column) {
  return postgres->is_null(result, row, column) ? NULL : postgres->value(result, row, column);
}
static inline void system_postgres_clear(const system_postgres *postgres, void *result) {
  postgres->clear(result);
}

/* ---- MariaDB ---- */

/* A parameter or a column of a prepared statement, as Connector/C 3 has it. */
typedef struct {
  unsigned long *length;
  char *is_null;
  void *buffer;
  char *error;
  void *row;
  void *functions[3];
  unsigned long buffer_length, offset, length_value;
  unsigned flags, pack_length;
  int type;
  char error_value, is_unsigned, long_data_used, is_null_value;
  void *extension;
} system_mariadb_bind;

typedef struct {
  void *(*init)(void *);
  void *(*connect)(void *, const char *, const char *, const char *, const char *, unsigned,
                   const char *, unsigned long);
  int (*options)(void *, int, const void *);
  int (*query)(void *, const char *, unsigned long);
  unsigned (*number)(void *);
  const char *(*error)(void *);
  void (*close)(void *);
  void *(*statement)(void *);
  int (*prepare)(void *, const char *, unsigned long);
  unsigned long (*parameters)(void *);
  char (*bind)(void *, system_mariadb_bind *);
  int (*execute)(void *);
  unsigned (*columns)(void *);
  char (*bind_result)(void *, system_mariadb_bind *);
  int (*store)(void *);
  int (*fetch)(void *);
  int (*column)(void *, system_mariadb_bind *, unsigned, unsigned long);
  char (*free_result)(void *);
  char (*close_statement)(void *);
  unsigned (*statement_number)(void *);
  const char *(*statement_error)(void *);
} system_mariadb;

enum {
  SYSTEM_MARIADB_CHARSET = 7,
  SYSTEM_MARIADB_LONGLONG = 8,
  SYSTEM_MARIADB_NULL = 6,
  SYSTEM_MARIADB_STRING = 254,
  SYSTEM_MARIADB_NO_MORE = 100
};

/** 1: libmariadb was found. */
static inline int system_mariadb_load(system_mariadb *out) {
  static const char *const names[] = {
      "mysql_init",          "mysql_real_connect",     "mysql_options",
      "mysql_real_query",    "mysql_errno",            "mysql_error",
      "mysql_close",         "mysql_stmt_init",        "mysql_stmt_prepare",
      "mysql_stmt_param_count", "mysql_stmt_bind_param", "mysql_stmt_execute",
      "mysql_stmt_field_count", "mysql_stmt_bind_result", "mysql_stmt_store_result",
      "mysql_stmt_fetch",    "mysql_stmt_fetch_column", "mysql_stmt_free_result",
      "mysql_stmt_close",    "mysql_stmt_errno",       "mysql_stmt_error"};
  return system_functions("libmariadb.so.3", names, sizeof names / sizeof *names, (void **)out);
}

/** A connection; `*failed` 1 where it was not made: see its error. */
static inline void *system_mariadb_connect(const system_mariadb *maria, const char *host,
                                           const char *user, const char *database, unsigned port,
                                           int *failed) {
  void *connection = maria->init(NULL);
  if (connection == NULL) return NULL;
  maria->options(connection, SYSTEM_MARIADB_CHARSET, "utf8mb4");
  *failed = maria->connect(connection, host, user, getenv("MYSQL_PWD"), database, port, NULL, 0) ==
            NULL;
  return connection;
}
static inline unsigned system_mariadb_number(const system_mariadb *maria, void *connection) {
  return maria->number(connection);
}
static inline const char *system_mariadb_error(const system_mariadb *maria, void *connection) {
  return maria->error(connection);
}
static inline void system_mariadb_close(const system_mariadb *maria, void *connection) {
  maria->close(connection);
}
/** Runs a command without parameters and rows. 0: it ran. */
static inline int system_mariadb_query(const system_mariadb *maria, void *connection,
                                       const char *sql) {
  return maria->query(connection, sql, strlen(sql));
}
/** A prepared statement; `*failed` 1 where it was not prepared: see its error. */
static inline void *system_mariadb_prepare(const system_mariadb *maria, void *connection,
                                           const char *sql, int *failed) {
  void *statement = maria->statement(connection);
  if (statement != NULL) *failed = maria->prepare(statement, sql, strlen(sql)) != 0;
  return statement;
}
static inline unsigned system_mariadb_statement_number(const system_mariadb *maria,
                                                       void *statement) {
  return maria->statement_number(statement);
}
static inline const char *system_mariadb_statement_error(const system_mariadb *maria,
                                                         void *statement) {
  return maria->statement_error(statement);
}
static inline unsigned long system_mariadb_parameters(const system_mariadb *maria,
                                                      void *statement) {
  return maria->parameters(statement);
}
static inline void system_mariadb_end(const system_mariadb *maria, void *statement) {
  maria->close_statement(statement);
}
/** Executes with parameters: a text, else an integer where `types` says so, else NULL. 0: it
 * ran, and its rows, if it has any, are here. */
static inline int system_mariadb_execute(const system_mariadb *maria, void *statement, int count,
                                         const int *types, const char *const *texts,
                                         long long *integers) {
  system_mariadb_bind *binds = calloc((size_t)count + 1, sizeof *binds);
  int place, failed;
  if (binds == NULL) return 1;
  for (place = 0; place < count; place++) {
    binds[place].type = types[place];
    if (types[place] == SYSTEM_MARIADB_STRING) {
      binds[place].buffer = (void *)(uintptr_t)texts[place];
      binds[place].length_value = strlen(texts[place]);
      binds[place].buffer_length = binds[place].length_value;
      binds[place].length = &binds[place].length_value;
    } else if (types[place] == SYSTEM_MARIADB_LONGLONG) {
      binds[place].buffer = &integers[place];
    }
  }
  failed = (count > 0 && maria->bind(statement, binds) != 0) || maria->execute(statement) != 0 ||
           (maria->columns(statement) > 0 && maria->store(statement) != 0);
  free(binds);
  return failed;
}
static inline unsigned system_mariadb_columns(const system_mariadb *maria, void *statement) {
  return maria->columns(statement);
}
/** 1: the next row is here. */
static inline int system_mariadb_fetch(const system_mariadb *maria, void *statement) {
  int code = maria->fetch(statement);
  return code != 1 && code != SYSTEM_MARIADB_NO_MORE;
}
/** A column of the row as text into the buffer; its length, -1: NULL. */
static inline long system_mariadb_column(const system_mariadb *maria, void *statement,
                                         unsigned column, char *buffer, unsigned long count) {
  system_mariadb_bind bind;
  unsigned long length = 0;
  char is_null = 0, error = 0;
  memset(&bind, 0, sizeof bind);
  bind.type = SYSTEM_MARIADB_STRING;
  bind.buffer = buffer;
  bind.buffer_length = count;
  bind.length = &length;
  bind.is_null = &is_null;
  bind.error = &error;
  if (maria->column(statement, &bind, column, 0) != 0 || is_null) return -1;
  return (long)length;
}
static inline void system_mariadb_free(const system_mariadb *maria, void *statement) {
  maria->free_result(statement);
}

#endif
