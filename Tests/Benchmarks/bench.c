/*
 * bench.c - Assay's verifications against libcrypto only, in one process.
 *
 *   bench [--quick] [--only NAME]
 *
 * Prints one line for each comparison: name, nanoseconds per call for Assay,
 * for the baseline, the ratio, and the middle half of the rounds' ratios. Lines
 * that begin with '#' are remarks. docs/benchmarks.md explains the rows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "bench.h"
#include "evidence.h"

/* More chains than a verifier remembers, so that a walk through them in order
 * meets no remembered one. */
enum { CHAINS = 160, MOST_REMEMBERED = 64 };

static int quick;
static const char *only;

static size_t rounds(size_t count) { return quick ? (count + 4) / 5 : count; }

int wanted(const char *name) {
  return only == NULL || strncmp(name, only, strlen(only)) == 0;
}

void row(const char *name, work *ours, void *our_context, work *baseline,
         void *baseline_context, size_t round_count, size_t calls) {
  struct comparison found;
  if (!wanted(name)) return;
  found = compare(ours, our_context, baseline, baseline_context,
                  rounds(round_count), calls);
  report(name, &found);
}

static assay_verifier *verifier_of(const char *config) {
  assay_verifier *verifier = NULL;
  demand(assay_verifier_new(config, strlen(config), &verifier, NULL) == 0,
         "assay_verifier_new");
  return verifier;
}

assay_verifier *verifier_new(char *config) {
  assay_verifier *verifier = verifier_of(config);
  free(config);
  return verifier;
}

void use(assay_doc *doc, assay_status status, assay_status expected) {
  size_t length = 0;
  demand(status == expected, assay_status_name(status));
  demand(assay_doc_json(doc, &length) != NULL && length > 0, "assay_doc_json");
  assay_doc_free(doc);
}

/* ---- the work ------------------------------------------------------------ */

/** Texts that are verified in turn, with the arguments of the calls. */
struct series {
  const assay_verifier *verifier;
  int32_t kind;
  assay_status expected;
  const struct jws *jws;
  size_t count;
  X509_STORE *store;
  const char *config; /* for verifiers that are made for one call */
  int64_t now;
};

static void verify_call(void *context, size_t index) {
  const struct series *series = context;
  const struct jws *jws = &series->jws[index % series->count];
  assay_doc *doc;
  assay_status status =
      assay_verify_jws(series->verifier, series->kind, jws->text, jws->length,
                       series->now, &doc);
  use(doc, status, series->expected);
}

/* Verifies like a host that makes a new verifier for each request. */
static void request_call(void *context, size_t index) {
  struct series series = *(const struct series *)context;
  assay_verifier *verifier = verifier_of(series.config);
  series.verifier = verifier;
  verify_call(&series, index);
  assay_verifier_free(verifier);
}

static void es256_call(void *context, size_t index) {
  const struct series *series = context;
  const struct jws *jws = &series->jws[index % series->count];
  bare_es256(jws->chain->leaf_key, jws);
}

static void chain_call(void *context, size_t index) {
  const struct series *series = context;
  bare_chain(series->store, &series->jws[index % series->count]);
}

/* ---- comparisons --------------------------------------------------------- */

struct world {
  struct issuer root, intermediate;
  struct chain chain;
  struct jws transaction, renewal, notification;
  int64_t now;
};

static struct world world_new(void) {
  struct world made;
  char *payload = transaction_payload();
  made.root = root_new();
  made.intermediate = intermediate_new(&made.root);
  made.chain = chain_new(&made.root, &made.intermediate);
  made.now = now_ms();
  made.transaction = jws_sign(&made.chain, payload);
  free(payload);
  payload = renewal_payload();
  made.renewal = jws_sign(&made.chain, payload);
  free(payload);
  payload = notification_payload(&made.transaction, &made.renewal);
  made.notification = jws_sign(&made.chain, payload);
  free(payload);
  return made;
}

static struct series series_of(const struct world *world,
                               const assay_verifier *verifier, int32_t kind,
                               const struct jws *jws, size_t count) {
  struct series series = {0};
  series.verifier = verifier;
  series.kind = kind;
  series.jws = jws;
  series.count = count;
  series.now = world->now;
  return series;
}

/* Stores the status with which the next measured call is refused. */
static void expect_refusal(struct series *series) {
  assay_doc *doc;
  series->expected =
      assay_verify_jws(series->verifier, series->kind, series->jws[0].text,
                       series->jws[0].length, series->now, &doc);
  demand(series->expected != ASSAY_OK, "a refusal that was expected");
  assay_doc_free(doc);
}

static void warm(const struct world *world) {
  assay_verifier *verifier = verifier_new(configuration(&world->root, -1));
  struct jws three[3];
  struct series one = series_of(world, verifier, ASSAY_JWS_TRANSACTION,
                                &world->transaction, 1);
  struct series notification = series_of(
      world, verifier, ASSAY_JWS_NOTIFICATION, &world->notification, 1);
  struct series parts;
  char *config;
  three[0] = world->notification;
  three[1] = world->transaction;
  three[2] = world->renewal;
  parts = series_of(world, verifier, 0, three, 3);
  row("warm-transaction", verify_call, &one, es256_call, &one, 101, 60);
  /* bench.py multiplies the baseline by the three checks of a notification. */
  row("warm-notification", verify_call, &notification, es256_call, &parts, 101, 30);
  config = configuration(&world->root, -1);
  one.config = config;
  row("request", request_call, &one, verify_call, &one, 101, 60);
  free(config);
  assay_verifier_free(verifier);
}

static void refused(const struct world *world) {
  assay_verifier *verifier = verifier_new(configuration(&world->root, -1));
  struct issuer foreign_root = root_new();
  struct issuer foreign = intermediate_new(&foreign_root);
  struct chain foreign_chain = chain_new(&foreign_root, &foreign);
  char *payload = transaction_payload();
  struct jws forged = jws_sign(&foreign_chain, payload);
  struct jws junk = world->transaction;
  struct series genuine = series_of(world, verifier, ASSAY_JWS_TRANSACTION,
                                    &world->transaction, 1);
  struct series series;
  free(payload);
  verify_call(&genuine, 0);
  series = series_of(world, verifier, ASSAY_JWS_TRANSACTION, &forged, 1);
  expect_refusal(&series);
  row("forged-root", verify_call, &series, es256_call, &genuine, 101, 60);
  /* A genuine header with the signature of another text. */
  junk.text = strdup(junk.text);
  memcpy(junk.text + junk.signed_length + 1,
         forged.text + forged.signed_length + 1, 86);
  series = series_of(world, verifier, ASSAY_JWS_TRANSACTION, &junk, 1);
  expect_refusal(&series);
  row("junk-signature", verify_call, &series, es256_call, &genuine, 101, 60);
  assay_verifier_free(verifier);
}

/* Returns texts under the world's root, each with a leaf of its own; with
 * `share` below the world's intermediate, else each below an intermediate of
 * its own. */
static struct jws *many(const struct world *world, int share) {
  struct jws *jws = calloc(CHAINS, sizeof *jws);
  char *payload = transaction_payload();
  size_t index;
  demand(jws != NULL, "calloc");
  for (index = 0; index < CHAINS; index++) {
    struct chain *chain = malloc(sizeof *chain);
    struct issuer own = world->intermediate;
    demand(chain != NULL, "malloc");
    if (!share) own = intermediate_new(&world->root);
    *chain = chain_new(&world->root, &own);
    jws[index] = jws_sign(chain, payload);
  }
  free(payload);
  return jws;
}

static void cold(const struct world *world) {
  struct jws *unseen, *siblings;
  assay_verifier *verifier, *forgetful;
  struct series ours;
  if (!wanted("cold-unseen") && !wanted("cold-uncached") &&
      !wanted("cold-known-intermediate"))
    return;
  unseen = many(world, 0);
  siblings = many(world, 1);
  verifier = verifier_new(configuration(&world->root, MOST_REMEMBERED));
  forgetful = verifier_new(configuration(&world->root, 0));
  ours = series_of(world, verifier, ASSAY_JWS_TRANSACTION, unseen, CHAINS);
  ours.store = bare_store(&world->root);
  row("cold-unseen", verify_call, &ours, chain_call, &ours, 101, 8);
  ours.verifier = forgetful;
  row("cold-uncached", verify_call, &ours, chain_call, &ours, 51, 8);
  ours.verifier = verifier;
  ours.jws = siblings;
  row("cold-known-intermediate", verify_call, &ours, chain_call, &ours, 101, 8);
  X509_STORE_free(ours.store);
  assay_verifier_free(forgetful);
  assay_verifier_free(verifier);
}

/* ---- threads ------------------------------------------------------------- */

struct worker {
  work *run;
  void *context;
  pthread_barrier_t *start;
  int core;
  size_t calls;
  double spent;   /* from the start of the first call to the end of the last */
  double delayed; /* the part spent waiting for a core */
};

/* Returns the nanoseconds that the calling thread has waited for a core so far;
 * 0 if the kernel does not report them. */
static double core_delay_ns(void) {
  double running = 0, waiting = 0;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%lf %lf", &running, &waiting) != 2) waiting = 0;
  fclose(file);
  return waiting;
}

static void *worker(void *argument) {
  struct worker *self = argument;
  size_t index;
  pin_to_core(self->core);
  pthread_barrier_wait(self->start);
  self->delayed = core_delay_ns();
  self->spent = wall_ns();
  for (index = 0; index < self->calls; index++)
    self->run(self->context, index);
  self->spent = wall_ns() - self->spent;
  self->delayed = core_delay_ns() - self->delayed;
  return NULL;
}

/* Returns calls per second of `count` threads together, without the time in
 * which another program had a thread's core. Time spent waiting for a lock
 * counts. */
static double throughput(work *run, void *context, int count, size_t calls,
                         double *delayed, double *spent) {
  struct worker workers[2];
  pthread_t ids[2];
  pthread_barrier_t start;
  double sum = 0;
  int index;
  pthread_barrier_init(&start, NULL, (unsigned)count);
  for (index = 0; index < count; index++) {
    struct worker one = {0};
    one.run = run;
    one.context = context;
    one.start = &start;
    one.core = index;
    one.calls = calls;
    workers[index] = one;
    demand(pthread_create(&ids[index], NULL, worker, &workers[index]) == 0,
           "pthread_create");
  }
  for (index = 0; index < count; index++) {
    const struct worker *one = &workers[index];
    pthread_join(ids[index], NULL);
    sum += (double)calls / (one->spent - one->delayed) * 1e9;
    *delayed += one->delayed;
    *spent += one->spent;
  }
  pthread_barrier_destroy(&start);
  return sum;
}

/* Compares two threads with one thread: a shared verifier, and alternately
 * libcrypto only, with a shared key, which is the most that this machine
 * allows. */
static void threads(const struct world *world) {
  enum { ROUNDS = 101, CALLS = 200 };
  static double ours[ROUNDS], theirs[ROUNDS];
  assay_verifier *verifier;
  struct series one;
  struct comparison found;
  double delayed = 0, spent = 0;
  size_t count = rounds(ROUNDS), round;
  if (!wanted("threads")) return;
  verifier = verifier_new(configuration(&world->root, -1));
  one = series_of(world, verifier, ASSAY_JWS_TRANSACTION, &world->transaction,
                  1);
  verify_call(&one, 0);
  for (round = 0; round < count; round++) {
    double single =
        throughput(verify_call, &one, 1, CALLS, &delayed, &spent);
    ours[round] =
        throughput(verify_call, &one, 2, CALLS, &delayed, &spent) / single;
    single = throughput(es256_call, &one, 1, CALLS, &delayed, &spent);
    theirs[round] =
        throughput(es256_call, &one, 2, CALLS, &delayed, &spent) / single;
  }
  printf("# threads: other programs had the cores for %.0f %% of the time, "
         "which is left out\n",
         delayed / spent * 100);
  found.ours = quantile(ours, count, 0.5);
  found.baseline = quantile(theirs, count, 0.5);
  found.ratio = found.ours;
  found.low = quantile(ours, count, 0.25);
  found.high = quantile(ours, count, 0.75);
  printf("%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", "threads", found.ours,
         found.baseline, found.ratio, found.low, found.high);
  assay_verifier_free(verifier);
}

int main(int argc, char **argv) {
  struct world world;
  int index;
  for (index = 1; index < argc; index++) {
    if (strcmp(argv[index], "--quick") == 0) {
      quick = 1;
    } else if (strcmp(argv[index], "--only") == 0 && index + 1 < argc) {
      only = argv[++index];
    } else {
      fputs("usage: bench [--quick] [--only NAME]\n", stderr);
      return 2;
    }
  }
  world = world_new();
  printf("# %s\n# bare: %s\n", assay_build_info(),
         OpenSSL_version(OPENSSL_VERSION));
  printf("# transaction: %zu bytes, header %zu; notification: %zu bytes\n",
         world.transaction.length, strlen(world.chain.header),
         world.notification.length);
  if (!pin_to_core(0)) printf("# the process could not be pinned to a core\n");
  warm(&world);
  refused(&world);
  cold(&world);
  receipt_rows();
  attest_rows();
  token_rows();
  unpin();
  threads(&world);
  return 0;
}
