/*
 * sqlite_step.h - runs the database steps of an exchange with libsqlite3.
 */
#ifndef SQLITE_STEP_H
#define SQLITE_STEP_H

#include <cjson/cJSON.h>
#include <sqlite3.h>

/* Opens a database whose commits are durable. Returns NULL, after a line on
 * standard error, if it cannot be opened for writing. A missing file is not
 * created: an empty ledger would grant each purchase again (STO-78). The
 * path is absolute, or begins with "./". */
sqlite3 *open_database(const char *path);

/* Opens a database, and creates a missing file: for an operator, once. */
sqlite3 *create_database(const char *path);

/* Runs one statement without values; 0 if it failed. */
int run_statement(sqlite3 *db, const char *sql);

/* Rolls back the open transaction, if there is one. */
void roll_back(sqlite3 *db);

/* Returns the reply to `exchange.database` of a step as JSON; free it with
 * sqlite3_free. After a failure the open transaction has been rolled back.
 * NULL: out of memory. */
char *run_database_step(sqlite3 *db, const cJSON *step);

/* Guards the open transaction: from now on a statement that ends it or
 * begins another one fails with SQLITE_AUTH and is counted in `hits`
 * (STO-38). Returns 0 on failure. */
int enter_grant(sqlite3 *db, int *hits);

/* Ends the guard and returns the reply to the grant step; free it with
 * sqlite3_free. The transaction stays open only if the reply's code is 200. */
char *leave_grant(sqlite3 *db, sqlite3_int64 id, const int *hits,
                  int is_granted);

#endif
