/*
 * soak.c - makes many calls in one process, whose memory must stay flat.
 *
 *   soak CASES.json SUITE COUNT
 *
 * Runs the accepted cases of the table in turn, with a refused one between
 * every two, until COUNT calls are made. Resident memory is read after the
 * first tenth, when every cache is full, and after each other tenth: it may
 * grow by LARGEST kB in all.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "report.h"

enum { TENTHS = 10, LARGEST = 2048 };

struct cases {
  const cJSON **items;
  int count;
};

/* Selects the accepted or the refused cases. Returns 0 on success. */
static int chosen(const struct case_table *table, int accepted,
                  struct cases *out) {
  const cJSON *item;
  out->count = 0;
  out->items =
      calloc((size_t)cJSON_GetArraySize(table->cases), sizeof *out->items);
  if (out->items == NULL) return -1;
  cJSON_ArrayForEach(item, table->cases) {
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(item, "expect");
    if ((strcmp(json_text(wanted, "status", ""), "ok") == 0) == accepted)
      out->items[out->count++] = item;
  }
  return out->count > 0 ? 0 : -1;
}

/* Returns the resident memory of this process in kB, or -1. */
static long resident_kb(void) {
  long pages = -1;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%*s %ld", &pages) != 1) pages = -1;
  (void)fclose(file);
  return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
  struct case_table table;
  struct cases accepted, refused;
  long calls, tenth, made = 0, first = 0, last = 0;
  if (argc != 4 || (calls = strtol(argv[3], NULL, 10)) < TENTHS) {
    (void)fprintf(stderr, "usage: soak CASES.json SUITE COUNT\n");
    return 2;
  }
  /* One arena, trimmed at its end: the memory that remains is in use. */
  (void)mallopt(M_ARENA_MAX, 1);
  if (case_table_open(&table, argv[1]) != 0 ||
      chosen(&table, 1, &accepted) != 0 || chosen(&table, 0, &refused) != 0)
    return 2;
  for (tenth = 1; tenth <= TENTHS; tenth++) {
    for (; made < calls / TENTHS * tenth; made++) {
      const struct cases *turn = made % 3 == 2 ? &refused : &accepted;
      failed += !case_holds(&table, turn->items[made / 3 % turn->count]);
    }
    (void)malloc_trim(0);
    last = resident_kb();
    if (tenth == 1) first = last;
    printf("%ld calls: %ld kB\n", made, last);
    (void)fflush(stdout);
  }
  expect_that(first >= 0 && last - first <= LARGEST, "memory grew by %ld kB", last - first);
  if (failed == 0) passed += made;
  free((void *)accepted.items);
  free((void *)refused.items);
  case_table_close(&table);
  return finish(argv[2]);
}
