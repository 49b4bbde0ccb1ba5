/*
 * bench_stores.c - a claim on SQLite against its statements without the claim.
 *
 *   bench_stores [--quick] FOLDER
 *
 * Prints a line as bench.c does, but in nanoseconds of wall-clock time, because
 * a claim waits for the disk. Both databases are made in FOLDER, with the
 * settings of the example's executor: every commit reaches the disk.
 */
#define _GNU_SOURCE
#include <assay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../bindings/c/examples/sqlite_step.h"
#include "evidence.h"
#include "measure.h"

enum { CALLS = 20 };

struct claims {
  assay_verifier *verifier;
  assay_doc **purchases; /* verified, each of another transaction */
  cJSON **steps;         /* a list of the step documents of each claim */
  size_t count;
  int64_t now;
  sqlite3 *ours, *bare;
};

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- evidence ------------------------------------------------------------ */

/* Returns the transaction of a coin pack with this number. Allocated. */
static char *coins(size_t number, int64_t now) {
  return format(
      "{\"transactionId\":\"20000009%08zu\","
      "\"originalTransactionId\":\"20000009%08zu\","
      "\"bundleId\":\"com.example.bench\","
      "\"productId\":\"com.example.bench.coins\","
      "\"purchaseDate\":%lld,\"originalPurchaseDate\":%lld,"
      "\"quantity\":1,\"type\":\"Consumable\","
      "\"inAppOwnershipType\":\"PURCHASED\",\"signedDate\":%lld,"
      "\"environment\":\"Sandbox\","
      "\"transactionReason\":\"PURCHASE\","
      "\"storefront\":\"USA\",\"storefrontId\":\"143441\"}",
      number, number, (long long)now - 90000,
      (long long)now - 90000, (long long)now - 60000);
}

/* Returns the configuration of evidence.h with a catalogue and a ledger.
 * Allocated. */
static char *shop_configuration(const struct issuer *root) {
  char *plain = configuration(root, -1), *text;
  plain[strlen(plain) - 1] = '\0';
  text = format(
      "%s,\"products\":{\"com.example.bench.coins\":"
      "{\"type\":\"consumable\"}},"
      "\"ledger\":{\"engine\":\"sqlite\"}}",
      plain);
  free(plain);
  return text;
}

static void verify_purchases(struct claims *claims, const struct chain *chain) {
  size_t n;
  claims->purchases = calloc(claims->count, sizeof *claims->purchases);
  demand(claims->purchases != NULL, "calloc");
  for (n = 0; n < claims->count; n++) {
    char *payload = coins(n, claims->now);
    struct jws jws = jws_sign(chain, payload);
    assay_status status = assay_verify_jws(
        claims->verifier, ASSAY_JWS_TRANSACTION, jws.text, jws.length,
        claims->now, &claims->purchases[n]);
    demand(status == ASSAY_OK, assay_status_name(status));
    free(payload);
    free(jws.text);
  }
}

/* ---- an exchange --------------------------------------------------------- */

static assay_status begin(struct claims *claims, const char *request,
                          const assay_doc *purchase, assay_exchange **exchange,
                          assay_doc **doc) {
  return assay_exchange_new(claims->verifier, request, strlen(request),
                            &purchase, purchase != NULL, claims->now, exchange,
                            doc);
}

static const cJSON *store_of(const cJSON *step) {
  return member(member(step, "exchange"), "database");
}

/* Writes the request of a claim under a lease. */
static void claim_request(char *text, size_t room, size_t number) {
  snprintf(text, room,
           "{\"operation\":\"claim\",\"account\":\"bench\","
           "\"attemptId\":\"bench-attempt-number-%08zu\"}",
           number);
}

/* Runs a claim on a database to its end. Adds its steps to `kept`, if not
 * NULL. */
static void claim(struct claims *claims, sqlite3 *db, size_t number,
                  cJSON *kept) {
  char request[160], *answer;
  assay_exchange *exchange;
  assay_doc *doc;
  cJSON *step;
  assay_status status;
  demand(number < claims->count, "a purchase for each claim");
  claim_request(request, sizeof request, number);
  status = begin(claims, request, claims->purchases[number], &exchange, &doc);
  while ((status & 0xff) == ASSAY_PENDING) {
    step = cJSON_Parse(assay_doc_json(doc, NULL));
    answer = run_database_step(db, store_of(step));
    demand(answer != NULL, "run_database_step");
    assay_doc_free(doc);
    status = assay_exchange_step(exchange, answer, strlen(answer), claims->now,
                                 &doc);
    sqlite3_free(answer);
    if (kept == NULL)
      cJSON_Delete(step);
    else
      cJSON_AddItemToArray(kept, step);
  }
  demand(status == ASSAY_OK, assay_status_name(status));
  assay_doc_free(doc);
  assay_exchange_free(exchange);
}

static void claim_call(void *context, size_t number) {
  struct claims *claims = context;
  claim(claims, claims->ours, number, NULL);
}

/* Prepares, binds and runs one statement to its end and ignores its rows. */
static void run_bare(sqlite3 *db, const cJSON *call) {
  const cJSON *value;
  sqlite3_stmt *statement = NULL;
  int place = 0, code;
  demand(sqlite3_prepare_v2(db, member(call, "sql")->valuestring, -1,
                            &statement, NULL) == SQLITE_OK,
         "sqlite3_prepare_v2");
  cJSON_ArrayForEach(value, member(call, "args")) {
    place++;
    if (cJSON_IsString(value))
      sqlite3_bind_text(statement, place, value->valuestring, -1,
                        SQLITE_STATIC);
    else if (cJSON_IsNumber(value))
      sqlite3_bind_int64(statement, place, (sqlite3_int64)value->valuedouble);
  }
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) continue;
  demand(code == SQLITE_DONE, "sqlite3_step");
  sqlite3_finalize(statement);
}

/* Runs the statements of a claim in a transaction, without the library. */
static void bare_call(void *context, size_t number) {
  struct claims *claims = context;
  const cJSON *step, *call;
  demand(number < claims->count, "statements for each claim");
  demand(run_statement(claims->bare, "BEGIN IMMEDIATE"), "BEGIN");
  cJSON_ArrayForEach(step, claims->steps[number]) {
    cJSON_ArrayForEach(call, member(store_of(step), "calls"))
        run_bare(claims->bare, call);
  }
  demand(run_statement(claims->bare, "COMMIT"), "COMMIT");
}

/* ---- the databases ------------------------------------------------------- */

/* Creates a database with the library's tables. */
static sqlite3 *database_new(struct claims *claims, const char *path) {
  static const char *const parts[] = {"statements", "indexes"};
  assay_exchange *exchange;
  assay_doc *doc;
  const cJSON *call;
  cJSON *root;
  sqlite3 *db;
  int part;
  db = create_database(path);
  demand(db != NULL, "create_database");
  demand(begin(claims, "{\"operation\":\"describe-schema\"}", NULL, &exchange, &doc) ==
             ASSAY_OK,
         "the schema");
  root = cJSON_Parse(assay_doc_json(doc, NULL));
  for (part = 0; part < 2; part++) {
    cJSON_ArrayForEach(call, member(member(root, "exchange"), parts[part])) {
      demand(run_statement(db, member(call, "sql")->valuestring), "a table");
    }
  }
  cJSON_Delete(root);
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  return db;
}

/* Records the steps of the claims on a database in memory. */
static void record_steps(struct claims *claims) {
  sqlite3 *memory = database_new(claims, ":memory:");
  size_t n;
  claims->steps = calloc(claims->count, sizeof *claims->steps);
  demand(claims->steps != NULL, "calloc");
  for (n = 0; n < claims->count; n++) {
    claims->steps[n] = cJSON_CreateArray();
    claim(claims, memory, n, claims->steps[n]);
  }
  sqlite3_close(memory);
}

/* ---- the program --------------------------------------------------------- */

int main(int argc, char **argv) {
  size_t rounds = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 7 : 51;
  struct claims claims = {0};
  struct issuer root = root_new(), intermediate = intermediate_new(&root);
  struct chain chain = chain_new(&root, &intermediate);
  char *config = shop_configuration(&root);
  struct comparison found;
  demand(argc > 1 && chdir(argv[argc - 1]) == 0, "the folder that was named");
  claims.now = now_ms();
  claims.count = (rounds + 1) * CALLS;
  demand(assay_verifier_new(config, strlen(config), &claims.verifier, NULL) ==
             ASSAY_OK,
         "assay_verifier_new");
  verify_purchases(&claims, &chain);
  record_steps(&claims);
  claims.ours = database_new(&claims, "./ours.db");
  claims.bare = database_new(&claims, "./bare.db");
  found = compare_by(wall_ns, claim_call, &claims, bare_call, &claims, rounds,
                     CALLS);
  report("claim-sqlite", &found);
  sqlite3_close(claims.ours);
  sqlite3_close(claims.bare);
  return 0;
}
