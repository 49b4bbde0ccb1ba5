/* Databases for `assay migrate`, by the client libraries of this machine, which are asked
 * for only then: nothing is linked. */
#ifndef ASSAY_DATABASES_H
#define ASSAY_DATABASES_H

#include <dlfcn.h>
#include <stdint.h>

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

#endif
