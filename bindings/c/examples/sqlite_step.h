/*
 * sqlite_step.h - carries out the steps of a store over libsqlite3.
 */
#ifndef SQLITE_STEP_H
#define SQLITE_STEP_H

#include <cjson/cJSON.h>
#include <sqlite3.h>

/* A database whose commits are on the disk; NULL, with a line on standard
 * error, if it cannot be opened for writing. A file that is missing is not
 * made: an empty ledger would pay each purchase again (STO-78). The path is
 * absolute, or begins with "./". */
sqlite3 *open_database(const char *path);

/* The same, and makes the file where it is missing: for an operator, once. */
sqlite3 *create_database(const char *path);

/* Runs one statement without values; 0 if it failed. */
int run_statement(sqlite3 *db, const char *sql);

/* Undoes what is open; nothing where nothing is. */
void roll_back(sqlite3 *db);

/* The answer to `exchange.database` of a step as JSON, to be freed by sqlite3_free.
 * After a failure nothing of an open transaction is left. NULL: out of memory. */
char *run_database_step(sqlite3 *db, const cJSON *step);

/* From here on nothing ends the open transaction or begins another one: such a
 * statement is SQLITE_AUTH, and counted in `hits` (STO-38). 0: it failed. */
int enter_grant(sqlite3 *db, int *hits);

/* After the grant: the answer to its step, to be freed by sqlite3_free. A
 * transaction is left open only where the answer's code is 200. */
char *leave_grant(sqlite3 *db, sqlite3_int64 id, const int *hits,
                  int is_granted);

#endif
