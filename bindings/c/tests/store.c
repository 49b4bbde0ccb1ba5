/*
 * store.c - runs database steps with sqlite_step.c, for the tests.
 *
 *   store DATABASE < STEPS.jsonl > ANSWERS.jsonl
 *
 * Each input line is a step in the form of `exchange.database`; each output
 * line is its reply. A line with "grant" is a grant: its statements run one
 * after the other, whatever their outcome.
 */
#include <stdio.h>

#include "sqlite_step.h"

enum { LONGEST = 1 << 16 };

static char *grant(sqlite3 *db, const cJSON *statements) {
  const cJSON *statement;
  int hits, good = enter_grant(db, &hits);
  cJSON_ArrayForEach(statement, statements)
      run_statement(db, statement->valuestring);
  return leave_grant(db, 7, &hits, good);
}

int main(int argc, char **argv) {
  static char line[LONGEST];
  sqlite3 *db = argc == 2 ? open_database(argv[1]) : NULL;
  if (db == NULL) return 2;
  while (fgets(line, sizeof line, stdin) != NULL) {
    cJSON *step = cJSON_Parse(line);
    const cJSON *grants = cJSON_GetObjectItemCaseSensitive(step, "grant");
    char *answer = grants != NULL ? grant(db, grants) : run_database_step(db, step);
    puts(answer == NULL ? "" : answer);
    sqlite3_free(answer);
    cJSON_Delete(step);
  }
  sqlite3_close(db);
  return 0;
}
