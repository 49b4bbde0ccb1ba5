/* bench_attest.c - the rows of App Attest. */
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "attest_evidence.h"
#include "bare.h"
#include "bench.h"

/* Device keys attested in turn, so that no leaf follows itself. */
enum { DEVICES = 24 };

struct attest_world {
  struct attest_line line;
  struct attested devices[DEVICES];
  struct assertion assertions[DEVICES];
  X509_STORE *store, *receipt_store;
  assay_verifier *verifier, *uncached;
  int64_t now;
};

/** A verifier and the evidence that it verifies. */
struct attest_pile {
  const struct attest_world *world;
  const assay_verifier *verifier;
};

/* ---- the work ------------------------------------------------------------ */

static void attestation_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  assay_doc *doc;
  assay_status status = assay_verify_attestation(
      pile->verifier, device->attestation.at, device->attestation.length,
      device->key_id, sizeof device->key_id, ASSAY_CLIENT_DATA,
      attest_client_data, strlen(attest_client_data), pile->world->now, &doc);
  use(doc, status, ASSAY_OK);
}

static void assertion_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  const struct assertion *made = &pile->world->assertions[index % DEVICES];
  assay_doc *doc;
  assay_status status = assay_verify_assertion(
      pile->verifier, made->object.at, made->object.length, device->point,
      sizeof device->point, 0, ASSAY_CLIENT_DATA, attest_client_data,
      strlen(attest_client_data), pile->world->now, &doc);
  use(doc, status, ASSAY_OK);
}

static void receipt_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  assay_doc *doc;
  assay_status status = assay_verify_receipt(
      pile->verifier, ASSAY_RECEIPT_ATTEST, device->receipt.at,
      device->receipt.length, device->point, sizeof device->point,
      pile->world->now, &doc);
  use(doc, status, ASSAY_OK);
}

/* ---- with libcrypto alone ------------------------------------------------ */

static void bare_receipt(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  bare_signature(pile->world->line.receipt_leaf.key, EVP_sha256(),
                 device->signature.at, device->signature.length,
                 device->content.at, device->content.length);
}

/* Verifies the leaf by the intermediate's key, and the receipt by its
 * signer's. */
static void bare_attestation(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  bare_signature(pile->world->line.intermediate.key, EVP_sha256(),
                 ASN1_STRING_get0_data(device->leaf_signature),
                 (size_t)ASN1_STRING_length(device->leaf_signature),
                 device->leaf_body, device->leaf_body_length);
  bare_receipt(context, index);
}

static void bare_assertion(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct assertion *made = &pile->world->assertions[index % DEVICES];
  bare_signature(pile->world->devices[index % DEVICES].key, EVP_sha256(),
                 made->signature.at, made->signature.length, made->nonce,
                 sizeof made->nonce);
}

/* Makes the checks of a careful C program: chain and CMS, no content. */
static void bare_chain_and_cms(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attest_world *world = pile->world;
  const struct attested *device = &world->devices[index % DEVICES];
  STACK_OF(X509) *others = sk_X509_new_null();
  X509_STORE_CTX *check = X509_STORE_CTX_new();
  sk_X509_push(others, world->line.intermediate.certificate);
  demand(X509_STORE_CTX_init(check, world->store, device->leaf, others) == 1 &&
             X509_verify_cert(check) == 1,
         "X509_verify_cert");
  bare_cms(world->receipt_store, device->receipt.at, device->receipt.length);
  X509_STORE_CTX_free(check);
  sk_X509_free(others);
}

/* ---- rows ---------------------------------------------------------------- */

static struct attest_world *attest_world_new(void) {
  struct attest_world *world = calloc(1, sizeof *world);
  size_t n;
  demand(world != NULL, "calloc");
  world->line = attest_line_new();
  for (n = 0; n < DEVICES; n++) {
    world->devices[n] = attested_new(&world->line);
    world->assertions[n] = assertion_new(&world->devices[n], 1);
  }
  world->store = bare_store_any(&world->line.root, -1);
  world->receipt_store = bare_store_any(&world->line.receipt_root, -1);
  world->verifier = verifier_new(attest_configuration(&world->line, -1));
  world->uncached = verifier_new(attest_configuration(&world->line, 0));
  world->now = now_ms();
  return world;
}

void attest_rows(void) {
  static const struct {
    const char *name;
    work *ours, *baseline;
    size_t rounds, calls;
    int is_uncached;
  } rows[] = {
      {"attestation", attestation_call, bare_attestation, 101, 24, 0},
      {"attestation-cold", attestation_call, bare_chain_and_cms, 51, 24, 1},
      {"assertion", assertion_call, bare_assertion, 101, 96, 0},
      {"receipt-attest", receipt_call, bare_receipt, 101, 96, 0},
  };
  struct attest_world *world = NULL;
  size_t n;
  for (n = 0; n < sizeof rows / sizeof *rows; n++) {
    struct attest_pile pile;
    if (!wanted(rows[n].name)) continue;
    if (world == NULL) world = attest_world_new();
    pile.world = world;
    pile.verifier = rows[n].is_uncached ? world->uncached : world->verifier;
    row(rows[n].name, rows[n].ours, &pile, rows[n].baseline, &pile,
        rows[n].rounds, rows[n].calls);
  }
}
