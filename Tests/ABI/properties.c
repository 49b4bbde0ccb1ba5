/*
 * properties.c - checks properties that decisions about any evidence have.
 *
 *   properties CASES.json SUITE [SCENARIOS [SEED]]
 *
 * The case table has a pool of evidence, which is minted and verified once. A
 * scenario is a random subset of the pool, a verifier and a moment, and each
 * property below is checked for it through the C ABI. A scenario that breaks a
 * property is made as small as possible and printed, with the seed. At the end
 * every property is replaced by a false one, its control, which the same
 * scenarios must refute: so a test that cannot fail is found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "report.h"

enum { LARGEST = 8, DAY = 86400000, SKEW = 60000, CONTROLS = 20000 };

#define STRANGER "99999999-d9cb-469f-a165-70867728950e"

/* ---- the pool ------------------------------------------------------------ */

struct item {
  const char *name, *account;
  int older, padded, refund; /* indexes in the pool; -1: none */
  int is_plain, is_sandbox, is_known;
  const cJSON *starts, *moments;
  assay_doc **docs; /* one for each verifier */
};

static const char *const verifier_names[] = {
    "standard", "no-family", "lenient-retry", "leeway",
    "no-grace", "no-skew",   "sandbox-never",
    /* Verifiers for single properties and their controls. */
    "account-if-present", "sandbox-equal", "account-ignored"};
enum {
  VERIFIERS = 10,
  ORDINARY = 7,
  NO_SKEW = 5,
  IF_PRESENT = 7,
  EQUAL = 8,
  IGNORED = 9
};

static struct item *pool;
static int pool_count, *plain, plain_count;
static assay_verifier *verifiers[VERIFIERS];
static int64_t pool_now;

static int is_true(const cJSON *item, const char *name) {
  return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, name));
}

static int place_of(const char *name) {
  int place;
  for (place = 0; name != NULL && place < pool_count; place++)
    if (strcmp(pool[place].name, name) == 0) return place;
  return -1;
}

static int open_pool(const struct case_table *table) {
  const cJSON *root = cJSON_GetObjectItemCaseSensitive(table->root,
                                                       "decisionPool");
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "items"), *entry;
  int verifier, place = 0;
  pool_now = json_int(root, "now", 0);
  pool_count = cJSON_GetArraySize(list);
  pool = calloc((size_t)pool_count + 1, sizeof *pool);
  plain = calloc((size_t)pool_count + 1, sizeof *plain);
  if (pool == NULL || plain == NULL || pool_count == 0) return -1;
  for (verifier = 0; verifier < VERIFIERS; verifier++) {
    verifiers[verifier] = case_table_verifier(table, verifier_names[verifier]);
    if (verifiers[verifier] == NULL) return -1;
  }
  cJSON_ArrayForEach(entry, list) {
    struct item *item = &pool[place];
    item->name = json_text(entry, "name", "?");
    item->account = json_text(entry, "account", NULL);
    item->is_plain = is_true(entry, "plain");
    item->is_sandbox = is_true(entry, "sandbox");
    item->is_known = is_true(entry, "known");
    item->starts = cJSON_GetObjectItemCaseSensitive(entry, "starts");
    item->moments = cJSON_GetObjectItemCaseSensitive(entry, "moments");
    if (item->is_plain) plain[plain_count++] = place;
    item->docs = calloc(VERIFIERS, sizeof *item->docs);
    if (item->docs == NULL) return -1;
    for (verifier = 0; verifier < VERIFIERS; verifier++) {
      assay_status status = -1;
      if (case_verify(verifiers[verifier], entry, pool_now, &status,
                      &item->docs[verifier]) != 0 ||
          status != ASSAY_OK) {
        printf("FAILED %s does not verify: %s\n", item->name,
               assay_status_name(status));
        return -1;
      }
    }
    place++;
  }
  place = 0;
  cJSON_ArrayForEach(entry, list) {
    pool[place].older = place_of(json_text(entry, "older", NULL));
    pool[place].padded = place_of(json_text(entry, "padded", NULL));
    pool[place].refund = place_of(json_text(entry, "refund", NULL));
    place++;
  }
  return plain_count > 0 ? 0 : -1;
}

static void close_pool(void) {
  int place, verifier;
  for (place = 0; place < pool_count; place++) {
    for (verifier = 0; verifier < VERIFIERS; verifier++)
      assay_doc_free(pool[place].docs[verifier]);
    free((void *)pool[place].docs);
  }
  free(pool);
  free(plain);
}

/* ---- chance -------------------------------------------------------------- */

/* splitmix64, which gives the same numbers on every machine. */
static uint64_t next_number(uint64_t *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

static int below(uint64_t *state, int count) {
  return (int)(next_number(state) % (uint64_t)count);
}

/* ---- scenarios ----------------------------------------------------------- */

struct scenario {
  int verifier, count, items[LARGEST];
  int64_t now;
  uint64_t chance; /* the seed for a property's own choices */
};

/* Returns a moment near a change of the evidence's state, or any other. */
static int64_t some_moment(const struct scenario *scenario, uint64_t *state) {
  static const int64_t around[] = {-SKEW - 1, -SKEW, -SKEW + 1, -1, 0, 1, 3599999,
                                   DAY - 1,   DAY};
  const cJSON *moments =
      pool[scenario->items[below(state, scenario->count)]].moments;
  int kind = below(state, 3), count = cJSON_GetArraySize(moments);
  if (kind == 0 || count == 0) return pool_now;
  if (kind == 1)
    return pool_now +
           (int64_t)(next_number(state) % (uint64_t)(120 * (int64_t)DAY)) -
           60 * (int64_t)DAY;
  return (int64_t)cJSON_GetArrayItem(moments, below(state, count))
             ->valuedouble +
         around[below(state, (int)(sizeof around / sizeof *around))];
}

static void draw(struct scenario *scenario, uint64_t *state) {
  int place, near;
  memset(scenario, 0, sizeof *scenario);
  scenario->verifier = below(state, ORDINARY);
  scenario->count = 1 + below(state, LARGEST - 2);
  for (place = 0; place < scenario->count; place++) {
    /* Evidence about one subscription is adjacent in the pool. */
    near = place > 0 && below(state, 2)
               ? scenario->items[place - 1] + below(state, 12) - 6
               : -1;
    if (near < 0 || near >= pool_count || !pool[near].is_plain)
      near = plain[below(state, plain_count)];
    scenario->items[place] = near;
  }
  scenario->now = some_moment(scenario, state);
  scenario->chance = next_number(state);
}

struct verdict {
  assay_doc *doc;
  const char *json;
  size_t len;
  assay_status status;
  int rank; /* of the plan in force */
};

static int rank_of(const char *plan) {
  if (plan == NULL || strcmp(plan, "free") == 0) return 0;
  return strcmp(plan, "standard") == 0 ? 1 : 2;
}

static const char *member(const assay_doc *doc, const char *path) {
  return assay_doc_text(doc, path, strlen(path), NULL);
}

static struct verdict decided(const struct scenario *scenario,
                              const char *account) {
  const assay_doc *evidence[LARGEST];
  struct verdict verdict;
  int place;
  for (place = 0; place < scenario->count; place++)
    evidence[place] = pool[scenario->items[place]].docs[scenario->verifier];
  verdict.doc = NULL;
  verdict.status = assay_decide(
      verifiers[scenario->verifier], evidence, (size_t)scenario->count, account,
      account ? strlen(account) : 0, scenario->now, &verdict.doc);
  verdict.json = assay_doc_json(verdict.doc, &verdict.len);
  verdict.rank = verdict.status == ASSAY_OK
                     ? rank_of(member(verdict.doc, "decision.plan"))
                     : 0;
  return verdict;
}

static int same(const struct scenario *one, const struct scenario *other) {
  struct verdict left = decided(one, NULL),
                 right = decided(other, NULL);
  int result = left.status == right.status && left.len == right.len &&
               memcmp(left.json, right.json, left.len) == 0;
  assay_doc_free(left.doc);
  assay_doc_free(right.doc);
  return result;
}

/* Whether the second scenario gives no higher plan than the first. */
static int no_higher(const struct scenario *one, const struct scenario *other) {
  struct verdict left = decided(one, NULL),
                 right = decided(other, NULL);
  int result = right.rank <= left.rank;
  assay_doc_free(left.doc);
  assay_doc_free(right.doc);
  return result;
}

/* ---- properties ---------------------------------------------------------- */

/*
 * Each function returns whether its property holds. With `wrong` it checks the
 * control instead, a property that does not hold.
 */

static int order_decides_nothing(const struct scenario *scenario, int wrong) {
  struct scenario other = *scenario;
  uint64_t state = scenario->chance;
  int place, swap, kept;
  for (place = other.count - 1; place > 0; place--) {
    swap = below(&state, place + 1);
    kept = other.items[place];
    other.items[place] = other.items[swap];
    other.items[swap] = kept;
  }
  if (wrong && other.count > 1) other.count--;
  return same(scenario, &other);
}

static int duplicates_change_nothing(const struct scenario *scenario,
                                     int wrong) {
  struct scenario other = *scenario;
  uint64_t state = scenario->chance;
  int drawn = below(&state, other.count);
  other.items[other.count++] =
      wrong ? plain[below(&state, plain_count)] : other.items[drawn];
  return same(scenario, &other);
}

/* The change that the last property made to the scenario, for its report. */
static char done_to_it[200];

static void note(const char *what, const char *name) {
  (void)snprintf(done_to_it, sizeof done_to_it, "%s %s", what, name);
}

/* Returns the index of an item of the scenario that has a variant, or -1. */
static int with_variant(const struct scenario *scenario, int which) {
  uint64_t state = scenario->chance;
  int start = below(&state, scenario->count), step;
  for (step = 0; step < scenario->count; step++) {
    int place = (start + step) % scenario->count;
    const struct item *item = &pool[scenario->items[place]];
    int variant = which == 0 ? item->older
                             : which == 1 ? item->padded : item->refund;
    if (variant >= 0) return place;
  }
  return -1;
}

static int older_evidence_changes_nothing(const struct scenario *scenario,
                                          int wrong) {
  struct scenario other = *scenario;
  int place = with_variant(scenario, wrong ? 2 : 0);
  const struct item *item;
  if (place < 0) return 1;
  item = &pool[scenario->items[place]];
  other.items[other.count++] = wrong ? item->refund : item->older;
  note("then with", pool[other.items[other.count - 1]].name);
  return same(scenario, &other);
}

static int unknown_members_change_nothing(const struct scenario *scenario,
                                          int wrong) {
  struct scenario other = *scenario;
  int place = with_variant(scenario, wrong ? 2 : 1);
  const struct item *item;
  if (place < 0) return 1;
  item = &pool[scenario->items[place]];
  other.items[place] = wrong ? item->refund : item->padded;
  note("then instead with", pool[other.items[place]].name);
  return same(scenario, &other);
}

/* Whether a period begins after `from`, up to `to` plus the tolerance. */
static int begins_between(const struct scenario *scenario, int64_t from,
                          int64_t to) {
  int64_t skew = scenario->verifier == NO_SKEW ? 0 : SKEW;
  int place;
  for (place = 0; place < scenario->count; place++) {
    const cJSON *start;
    cJSON_ArrayForEach(start, pool[scenario->items[place]].starts) {
      int64_t begins = (int64_t)start->valuedouble;
      if (begins > from && begins <= to + skew) return 1;
    }
  }
  return 0;
}

/*
 * A refund may raise the plan only if a period begins within the tolerance,
 * which counts only if no other period is active (DCD-5). Control: removing a
 * refund never raises the plan.
 */
static int a_refund_never_raises(const struct scenario *scenario, int wrong) {
  struct scenario other = *scenario;
  int place = with_variant(scenario, 2);
  if (place < 0 || begins_between(scenario, scenario->now, scenario->now))
    return 1;
  other.items[other.count++] = pool[scenario->items[place]].refund;
  note("then with", pool[other.items[other.count - 1]].name);
  return wrong ? no_higher(&other, scenario) : no_higher(scenario, &other);
}

/*
 * A later moment may raise the plan only if a period begins after now and not
 * after the later moment plus the tolerance. Control: without that exception.
 */
static int later_never_raises(const struct scenario *scenario, int wrong) {
  struct scenario other = *scenario;
  uint64_t state = scenario->chance;
  other.now = some_moment(scenario, &state);
  if (other.now <= scenario->now)
    other.now = scenario->now + 1 +
                (int64_t)(next_number(&state) % (uint64_t)(90 * (int64_t)DAY));
  if (!wrong && begins_between(scenario, scenario->now, other.now)) return 1;
  {
    char days[40];
    (void)snprintf(days, sizeof days, "%+.6f days",
                   (double)(other.now - pool_now) / DAY);
    note("then at pool", days);
  }
  return no_higher(scenario, &other);
}

/* Checks the default beside Production evidence. Control: sandbox:equal. */
static int sandbox_never_lifts_production(const struct scenario *scenario,
                                          int wrong) {
  struct scenario live = *scenario, both;
  uint64_t state = scenario->chance;
  int place, count = 0, known = 0;
  if (wrong) live.verifier = EQUAL;
  for (place = 0; place < scenario->count; place++) {
    const struct item *item = &pool[scenario->items[place]];
    if (item->is_sandbox) continue;
    live.items[count++] = scenario->items[place];
    if (item->is_known && strncmp(item->name, "odd", 3) != 0 &&
        pool[scenario->items[place]].is_plain)
      known = 1;
  }
  live.count = count;
  if (count == 0 || !known) return 1;
  both = live;
  do {
    place = plain[below(&state, plain_count)];
  } while (!pool[place].is_sandbox);
  both.items[both.count++] = place;
  note("then with", pool[place].name);
  {
    /* A renewal info without its transaction is no purchase. */
    struct verdict alone = decided(&live, NULL);
    const char *state_name = member(alone.doc, "decision.state");
    int shows = state_name != NULL && strcmp(state_name, "none") != 0;
    assay_doc_free(alone.doc);
    if (!shows) return 1;
  }
  return no_higher(&live, &both);
}

/* Control: account:ignored. */
static int another_account_is_not_entitled(const struct scenario *scenario,
                                           int wrong) {
  struct scenario asked = *scenario;
  struct verdict verdict;
  const char *account;
  int holds;
  if (scenario->chance % 4 == 0) asked.verifier = IF_PRESENT;
  if (wrong) asked.verifier = IGNORED;
  note("for account " STRANGER ", by", verifier_names[asked.verifier]);
  verdict = decided(&asked, STRANGER);
  account = member(verdict.doc, "decision.account");
  holds = verdict.status != ASSAY_OK ||
          (account != NULL && strcmp(account, "unproven") == 0);
  assay_doc_free(verdict.doc);
  return holds;
}

/* The end that a host stores. Control: no evidence ever gives a decision. */
static int until_lies_ahead_only_while_entitled(
    const struct scenario *scenario, int wrong) {
  static const char path[] = "decision.expiresAtMs";
  struct verdict verdict = decided(scenario, NULL);
  int64_t until = assay_doc_integer(verdict.doc, path, sizeof path - 1, 0);
  int holds = wrong ? verdict.status != ASSAY_OK
                    : verdict.status == ASSAY_OK || until <= scenario->now ||
                          /* A group of products without a plan is in force on
                           * its own. */
                          strstr(verdict.json, "\"groups\":[{\"plan\":\"free\","
                                               "\"entitled\":true") != NULL;
  assay_doc_free(verdict.doc);
  return holds;
}

static const struct property {
  const char *name;
  int (*holds)(const struct scenario *, int wrong);
} properties[] = {
    {"DCD-7 the order of the evidence decides nothing", order_decides_nothing},
    {"DCD-3 duplicates change nothing", duplicates_change_nothing},
    {"DCD-3 older evidence changes nothing", older_evidence_changes_nothing},
    {"DCD-11 unknown members change nothing", unknown_members_change_nothing},
    {"DCD-6 a refund never raises", a_refund_never_raises},
    {"DCD-14 later never raises, unless a period begins", later_never_raises},
    {"DCD-23 Sandbox never lifts Production", sandbox_never_lifts_production},
    {"DCD-20 another account is not entitled", another_account_is_not_entitled},
    {"DCD-25 until lies ahead only while entitled",
     until_lies_ahead_only_while_entitled}};
enum { PROPERTIES = sizeof properties / sizeof *properties };

/* ---- running ------------------------------------------------------------- */

static void print_scenario(const struct scenario *scenario) {
  struct verdict verdict = decided(scenario, NULL);
  int place;
  printf("  verifier %s, now = pool %+.6f days, evidence:\n",
         verifier_names[scenario->verifier],
         (double)(scenario->now - pool_now) / DAY);
  for (place = 0; place < scenario->count; place++)
    printf("    %s\n", pool[scenario->items[place]].name);
  if (done_to_it[0] != '\0') printf("    %s\n", done_to_it);
  printf("  decided at first: %s\n", verdict.json ? verdict.json : "nothing");
  assay_doc_free(verdict.doc);
}

/* Removes evidence that is not needed for the property to fail. */
static void make_smaller(const struct property *property,
                         struct scenario *scenario) {
  int place = 0;
  while (place < scenario->count && scenario->count > 1) {
    struct scenario less = *scenario;
    memmove(&less.items[place], &less.items[place + 1],
            (size_t)(less.count - place - 1) * sizeof *less.items);
    less.count--;
    if (property->holds(&less, 0)) {
      place++;
    } else {
      *scenario = less;
    }
  }
}

/* Returns 1 if the control is refuted, as it must be. */
static int is_refuted(const struct property *property, uint64_t seed) {
  struct scenario scenario;
  int turn;
  for (turn = 0; turn < CONTROLS; turn++) {
    draw(&scenario, &seed);
    if (!property->holds(&scenario, 1)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct case_table table;
  struct scenario scenario;
  long scenarios = argc > 3 ? strtol(argv[3], NULL, 10) : 100000;
  uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 0) : 20261122;
  uint64_t state = seed;
  long turn, granted = 0;
  int place, broken[PROPERTIES] = {0};
  if (argc < 3 || scenarios < 1) {
    (void)fprintf(stderr,
                  "usage: properties CASES.json SUITE [SCENARIOS [SEED]]\n");
    return 2;
  }
  if (case_table_open(&table, argv[1]) != 0 || open_pool(&table) != 0) return 2;
  for (turn = 0; turn < scenarios; turn++) {
    draw(&scenario, &state);
    for (place = 0; place < PROPERTIES; place++) {
      if (broken[place] || properties[place].holds(&scenario, 0)) continue;
      broken[place] = 1;
      make_smaller(&properties[place], &scenario);
      done_to_it[0] = '\0';
      (void)properties[place].holds(&scenario, 0);
      printf("FAILED %s (scenario %ld, seed %llu)\n", properties[place].name,
             turn, (unsigned long long)seed);
      print_scenario(&scenario);
    }
    if (turn % 16 == 0) {
      struct verdict verdict = decided(&scenario, NULL);
      granted += verdict.status == ASSAY_OK;
      assay_doc_free(verdict.doc);
    }
  }
  for (place = 0; place < PROPERTIES; place++) {
    failed += broken[place];
    passed += !broken[place];
    expect_that(is_refuted(&properties[place], seed), "%s: its control holds too",
                properties[place].name);
  }
  printf("%ld scenarios, seed %llu, %ld in 100 entitled\n", scenarios,
         (unsigned long long)seed, granted * 1600 / scenarios);
  close_pool();
  case_table_close(&table);
  return finish(argv[2]);
}
