/*
 * store.c - carries out the steps of a store over sqlite_step.c, as the tests ask.
 *
 *   store DATABASE < STEPS.jsonl > ANSWERS.jsonl
 *
 * A step a line, as `exchange.database` has it; an answer a line. A line with "grant"
 * in it is a grant: its statements, one after the other, whatever comes of each.
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
