/*
 * dump.c - prints the document of every case, one line each.
 *
 *   dump CASES.json
 *
 * The cases run in order with new verifiers, so that two builds of the library
 * must print the same bytes, chain.cached included. Signatures made by a case
 * are left out, because each one is different.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

int main(int argc, char **argv) {
  struct case_table table;
  const cJSON *item;
  int32_t family, detail;
  if (argc < 2 || case_table_open(&table, argv[1]) != 0) {
    fputs("usage: dump CASES.json\n", stderr);
    return 2;
  }
  for (family = 0; family <= 9; family++)
    for (detail = 0; detail < 512; detail++)
      printf("%d\t%s\n", family | detail * 256,
             assay_status_name(family | detail * 256));
  cJSON_ArrayForEach(item, table.cases) {
    assay_status status = -1;
    assay_doc *doc = NULL;
    char *json;
    if (case_run(&table, item, &status, &doc) != 0) {
      fprintf(stderr, "%s: cannot be run\n", json_text(item, "name", "?"));
      return 1;
    }
    printf("%s\t%d\t", json_text(item, "name", "?"), status);
    json = repeatable_json(doc);
    puts(json != NULL ? json : "-");
    free(json);
    assay_doc_free(doc);
  }
  case_table_close(&table);
  return 0;
}
