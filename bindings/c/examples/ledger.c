/*
 * ledger.c - grants a purchase once, with an SQLite database.
 *
 *   ledger CONFIG.json DATABASE --create
 *   ledger CONFIG.json DATABASE ACCOUNT JWS-FILE [--at MILLISECONDS]
 *
 * The first form creates the file and its tables, once: a ledger that is
 * missing later is an error. DATABASE is an absolute path, or begins with "./".
 * CONFIG.json has the block "ledger": {"engine": "sqlite"}. The JWS is that of
 * a transaction, as the app sent it. The claim and its grant, a row in the
 * table `wallet`, are committed together or not at all.
 *
 * Prints the result for the app: granted, already-granted, refused-final,
 * refused-keep or deferred, and the name of the status.
 * Exit code 0: granted, now or before. 1: refused. 2: incorrect usage.
 * 3: deferred; ask again later.
 *
 *   cc ledger.c sqlite_step.c -o ledger \
 *     $(pkg-config --cflags --libs assay libcjson sqlite3)
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include "documents.h"
#include "sqlite_step.h"

enum { GRANTED = 0, LATER = 3 };

static const char *const wallet =
    "CREATE TABLE IF NOT EXISTS wallet (grant_id TEXT NOT NULL PRIMARY KEY,"
    " account TEXT NOT NULL, product TEXT NOT NULL, quantity INTEGER NOT NULL)";

struct shop {
  assay_verifier *verifier;
  sqlite3 *db;
  const char *account;
  int64_t at_ms; /* 0 for the system's clock */
};

static int64_t now_ms(const struct shop *shop) {
  struct timespec now;
  if (shop->at_ms != 0) return shop->at_ms;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the grant ----------------------------------------------------------- */

static void bind_member(sqlite3_stmt *insert, int place, const cJSON *item) {
  if (cJSON_IsString(item))
    sqlite3_bind_text(insert, place, item->valuestring, -1, SQLITE_TRANSIENT);
  else if (cJSON_IsNumber(item))
    sqlite3_bind_int64(insert, place, (sqlite3_int64)item->valuedouble);
}

/* Writes into the wallet in the open transaction of the claim. Returns 0 on
 * failure, and then nothing is claimed. A grant that ends the transaction is
 * refused. */
static int granted(sqlite3 *db, const cJSON *grant) {
  static const char *const names[] = {"grantId", "account", "product",
                                      "quantity"};
  sqlite3_stmt *insert = NULL;
  int place, good;
  if (sqlite3_prepare_v2(db, "INSERT INTO wallet VALUES (?,?,?,?)", -1,
                         &insert, NULL) != SQLITE_OK)
    return 0;
  for (place = 0; place < 4; place++)
    bind_member(insert, place + 1, member(grant, names[place]));
  good = sqlite3_step(insert) == SQLITE_DONE;
  sqlite3_finalize(insert);
  return good;
}

static char *answer_to_grant(sqlite3 *db, const cJSON *grant) {
  sqlite3_int64 id = (sqlite3_int64)cJSON_GetNumberValue(member(grant, "id"));
  int hits, good = enter_grant(db, &hits) && granted(db, grant);
  return leave_grant(db, id, &hits, good);
}

/* ---- the exchange ---------------------------------------------------- */

/* Runs a wait step, which is short: a row was busy. Returns the reply. */
static char *waited(const struct shop *shop, const cJSON *step) {
  const cJSON *until = member(step, "notBeforeMs");
  int64_t left = (int64_t)cJSON_GetNumberValue(until) - now_ms(shop);
  struct timespec pause = {0, 0};
  if (left < 0) left = 0;
  if (left > 1000) left = 1000;
  pause.tv_sec = left / 1000;
  pause.tv_nsec = left % 1000 * 1000000;
  nanosleep(&pause, NULL);
  return sqlite3_mprintf("{}");
}

/* Returns the reply to the open step as JSON; free it with sqlite3_free. */
static char *carried_out(const struct shop *shop, const assay_doc *doc) {
  cJSON *root = cJSON_Parse(assay_doc_json(doc, NULL));
  const cJSON *step = member(root, "exchange");
  const cJSON *store = member(step, "database"), *grant = member(step, "grant");
  char *answer = store != NULL   ? run_database_step(shop->db, store)
                 : grant != NULL ? answer_to_grant(shop->db, grant)
                                 : waited(shop, step);
  cJSON_Delete(root);
  return answer;
}

/* Runs an exchange to its end and returns its last document, to be freed. No
 * transaction stays open. */
static assay_doc *conversed(const struct shop *shop, const char *request,
                            const assay_doc *evidence) {
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  char *answer = NULL;
  int64_t moved = 0;
  assay_status status = assay_exchange_new(
      shop->verifier, request, strlen(request), &evidence, evidence != NULL,
      now_ms(shop), &exchange, &doc);
  while ((status & 0xff) == ASSAY_PENDING &&
         (answer = carried_out(shop, doc)) != NULL) {
    assay_doc_free(doc);
    /* A fixed clock (--at) would never reach the end of a wait. */
    moved += shop->at_ms == 0 ? 0 : 1000;
    status = assay_exchange_step(exchange, answer, strlen(answer),
                                 now_ms(shop) + moved, &doc);
    sqlite3_free(answer);
  }
  roll_back(shop->db);
  assay_exchange_free(exchange);
  return doc;
}

/* Writes 32 random hex digits; returns 0 on failure. */
static int made_digits(char *digits) {
  unsigned char octets[16];
  FILE *random = fopen("/dev/urandom", "rb");
  size_t i, len = random == NULL ? 0 : fread(octets, 1, sizeof octets, random);
  if (random != NULL) fclose(random);
  for (i = 0; i < sizeof octets && len == sizeof octets; i++)
    snprintf(digits + 2 * i, 3, "%02x", octets[i]);
  return len == sizeof octets;
}

/* Creates the library's tables and the wallet if there are none. If only a
 * part of them is missing, nothing is created (STO-78). */
static int made_tables(const struct shop *shop) {
  char lineage[33], request[80];
  assay_doc *doc;
  int good;
  if (!made_digits(lineage)) return 0;
  snprintf(request, sizeof request,
           "{\"operation\":\"create-schema\",\"lineage\":\"%s\"}", lineage);
  doc = conversed(shop, request, NULL);
  good = assay_doc_status(doc) == ASSAY_OK;
  if (!good) fprintf(stderr, "%s\n", assay_doc_json(doc, NULL));
  assay_doc_free(doc);
  return good && run_statement(shop->db, wallet);
}

/* ---- the claim ----------------------------------------------------------- */

/* Returns the request for a claim as JSON, to be freed. A retry must send
 * the same text, because the attempt id identifies the attempt. */
static char *claim_request(const char *account) {
  cJSON *request = cJSON_CreateObject();
  char attempt[33], *text = NULL;
  if (made_digits(attempt) &&
      cJSON_AddStringToObject(request, "operation", "claim") != NULL &&
      cJSON_AddStringToObject(request, "grantMode", "transaction") != NULL &&
      cJSON_AddStringToObject(request, "account", account) != NULL &&
      cJSON_AddStringToObject(request, "attemptId", attempt) != NULL)
    text = cJSON_PrintUnformatted(request);
  cJSON_Delete(request);
  return text;
}

/* Prints the result of a claim, or of the verification before it. */
static int print_answer(const assay_doc *doc) {
  static const char path[] = "exchange.clientResult";
  const char *answer = assay_doc_text(doc, path, sizeof path - 1, NULL);
  assay_status status = assay_doc_status(doc);
  if (answer == NULL)
    answer = (status & 0xff) == ASSAY_UNAVAILABLE ? "deferred" : "refused-final";
  printf("%s %s\n", answer, assay_status_name(status));
  if (strcmp(answer, "granted") == 0 || strcmp(answer, "already-granted") == 0)
    return GRANTED;
  return strcmp(answer, "deferred") == 0 ? LATER : REFUSED;
}

static int claimed(const struct shop *shop, const char *jws, size_t len) {
  assay_doc *evidence = NULL, *doc = NULL;
  char *request = claim_request(shop->account);
  int code = LATER;
  assay_status status =
      assay_verify_jws(shop->verifier, ASSAY_JWS_TRANSACTION, jws,
                       without_line_end(jws, len), now_ms(shop), &evidence);
  if (status != ASSAY_OK) {
    code = print_answer(evidence);
  } else if (request == NULL) {
    fputs("no attempt id: out of memory, or of random numbers\n", stderr);
  } else {
    doc = conversed(shop, request, evidence);
    code = print_answer(doc);
  }
  assay_doc_free(doc);
  assay_doc_free(evidence);
  free(request);
  return code;
}

/* ---- the program --------------------------------------------------------- */

int main(int argc, char **argv) {
  struct shop shop = {NULL, NULL, NULL, 0};
  char *jws = NULL;
  size_t len = 0;
  int code = USAGE;
  int is_new = argc == 4 && strcmp(argv[3], "--create") == 0;
  if (argc == 7 && strcmp(argv[5], "--at") == 0) {
    shop.at_ms = strtoll(argv[6], NULL, 10);
  } else if (argc != 5 && !is_new) {
    fputs("usage: ledger CONFIG.json DATABASE --create\n"
          "       ledger CONFIG.json DATABASE ACCOUNT JWS-FILE "
          "[--at MILLISECONDS]\n", stderr);
    return USAGE;
  }
  if (!is_new) jws = read_path(argv[4], &len);
  shop.account = argv[3];
  if (is_new || jws != NULL) shop.verifier = verifier_from(argv[1]);
  if (shop.verifier != NULL)
    shop.db = is_new ? create_database(argv[2]) : open_database(argv[2]);
  if (shop.db != NULL) {
    if (!is_new) code = claimed(&shop, jws, len);
    else if (made_tables(&shop)) code = GRANTED;
  }
  sqlite3_close(shop.db);
  assay_verifier_free(shop.verifier);
  free(jws);
  return code;
}
