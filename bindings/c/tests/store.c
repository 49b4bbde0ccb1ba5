/*
 * store.c - carries out the steps of a store over sqlite_step.c, as the tests ask.
 *
 *   store DATABASE < STEPS.jsonl > ANSWERS.jsonl
 *
 * A step a line, as `exchange.store` has it; an answer a line.
 */
#include <stdio.h>

#include "sqlite_step.h"

enum { LONGEST = 1 << 16 };

int main(int argc, char **argv) {
  static char line[LONGEST];
  sqlite3 *db = argc == 2 ? open_database(argv[1]) : NULL;
  if (db == NULL) return 2;
  while (fgets(line, sizeof line, stdin) != NULL) {
    cJSON *step = cJSON_Parse(line);
    char *answer = carry_out_store(db, step);
    puts(answer == NULL ? "" : answer);
    sqlite3_free(answer);
    cJSON_Delete(step);
  }
  sqlite3_close(db);
  return 0;
}
