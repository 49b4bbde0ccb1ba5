/*
 * sqlite_step.h - carries out the steps of a store over libsqlite3.
 */
#ifndef SQLITE_STEP_H
#define SQLITE_STEP_H

#include <cjson/cJSON.h>
#include <sqlite3.h>

/* A database whose commits are on the disk; NULL, with a line on standard
 * error, if it cannot be opened for writing. */
sqlite3 *open_database(const char *path);

/* Runs one statement without values; 0 if it failed. */
int run_statement(sqlite3 *db, const char *sql);

/* Undoes what is open; nothing where nothing is. */
void roll_back(sqlite3 *db);

/* The answer to `exchange.store` of a step as JSON, to be freed by sqlite3_free.
 * After a failure nothing of an open transaction is left. NULL: out of memory. */
char *carry_out_store(sqlite3 *db, const cJSON *step);

#endif
