/* bench_attest.c - see bench_attest.h. */
#include "bench_attest.h"

#include <assay.h>
#include <openssl/cms.h>
#include <stdlib.h>
#include <string.h>

#include "attest_evidence.h"
#include "measure.h"

/* Keys that are attested in turn: no leaf is ever seen twice in a row. */
enum { DEVICES = 24 };

struct attest_world {
  struct attest_line line;
  struct attested devices[DEVICES];
  struct assertion assertions[DEVICES];
  X509_STORE *store, *receipt_store;
  assay_verifier *verifier, *uncached;
  int64_t now;
};

/** A verifier and the evidence that it looks at. */
struct attest_pile {
  const struct attest_world *world;
  const assay_verifier *verifier;
};

/* ---- the work ------------------------------------------------------------ */

static void use(assay_doc *doc) {
  size_t length = 0;
  assay_status status = assay_doc_status(doc);
  demand(status == ASSAY_OK, assay_status_name(status));
  demand(assay_doc_json(doc, &length) != NULL && length > 0, "assay_doc_json");
  assay_doc_free(doc);
}

static void attestation_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  assay_doc *doc;
  assay_verify_attestation(
      pile->verifier, device->attestation.at, device->attestation.length,
      device->key_id, sizeof device->key_id, ASSAY_CLIENT_DATA,
      attest_client_data, strlen(attest_client_data), pile->world->now, &doc);
  use(doc);
}

static void assertion_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  const struct assertion *made = &pile->world->assertions[index % DEVICES];
  assay_doc *doc;
  assay_verify_assertion(pile->verifier, made->object.at, made->object.length,
                         device->point, sizeof device->point, 0,
                         ASSAY_CLIENT_DATA, attest_client_data,
                         strlen(attest_client_data), pile->world->now, &doc);
  use(doc);
}

static void receipt_call(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  assay_doc *doc;
  assay_verify_receipt(pile->verifier, ASSAY_RECEIPT_ATTEST,
                       device->receipt.at, device->receipt.length,
                       device->point, sizeof device->point, pile->world->now,
                       &doc);
  use(doc);
}

/* ---- with libcrypto alone ------------------------------------------------ */

/* ECDSA over SHA-256 with a ready key. */
static void bare_check(EVP_PKEY *key, const unsigned char *signature,
                       size_t signature_length, const unsigned char *text,
                       size_t length) {
  EVP_MD_CTX *check = EVP_MD_CTX_new();
  demand(EVP_DigestVerifyInit(check, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestVerify(check, signature, signature_length, text,
                              length) == 1,
         "EVP_DigestVerify");
  EVP_MD_CTX_free(check);
}

static void bare_receipt(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  bare_check(pile->world->line.receipt_leaf.key, device->signature.at,
             device->signature.length, device->content.at,
             device->content.length);
}

/* The leaf by the intermediate, and the receipt by its signer. */
static void bare_attestation(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attested *device = &pile->world->devices[index % DEVICES];
  bare_check(pile->world->line.intermediate.key,
             ASN1_STRING_get0_data(device->leaf_signature),
             (size_t)ASN1_STRING_length(device->leaf_signature),
             device->leaf_body, device->leaf_body_length);
  bare_receipt(context, index);
}

static void bare_assertion(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct assertion *made = &pile->world->assertions[index % DEVICES];
  bare_check(pile->world->devices[index % DEVICES].key, made->signature.at,
             made->signature.length, made->nonce, sizeof made->nonce);
}

/* What a careful C program does: chain and CMS. It looks at no field. */
static void bare_chain_and_cms(void *context, size_t index) {
  const struct attest_pile *pile = context;
  const struct attest_world *world = pile->world;
  const struct attested *device = &world->devices[index % DEVICES];
  STACK_OF(X509) *others = sk_X509_new_null();
  X509_STORE_CTX *check = X509_STORE_CTX_new();
  const unsigned char *read = device->receipt.at;
  CMS_ContentInfo *cms =
      d2i_CMS_ContentInfo(NULL, &read, (long)device->receipt.length);
  BIO *out = BIO_new(BIO_s_mem());
  sk_X509_push(others, world->line.intermediate.certificate);
  demand(X509_STORE_CTX_init(check, world->store, device->leaf, others) == 1 &&
             X509_verify_cert(check) == 1,
         "X509_verify_cert");
  demand(cms != NULL && CMS_verify(cms, NULL, world->receipt_store, NULL, out,
                                   CMS_BINARY) == 1,
         "CMS_verify");
  CMS_ContentInfo_free(cms);
  BIO_free(out);
  X509_STORE_CTX_free(check);
  sk_X509_free(others);
}

/* ---- rows ---------------------------------------------------------------- */

static X509_STORE *store_of(const struct issuer *root) {
  X509_STORE *store = X509_STORE_new();
  X509_VERIFY_PARAM *rules = X509_VERIFY_PARAM_new();
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_ANY);
  demand(X509_STORE_add_cert(store, root->certificate) == 1 &&
             X509_STORE_set1_param(store, rules) == 1,
         "X509_STORE");
  X509_VERIFY_PARAM_free(rules);
  return store;
}

static assay_verifier *verifier_of(const struct attest_line *line,
                                   int chains) {
  char *config = attest_configuration(line, chains);
  assay_verifier *verifier = NULL;
  demand(assay_verifier_new(config, strlen(config), &verifier, NULL) == 0,
         "assay_verifier_new");
  free(config);
  return verifier;
}

static struct attest_world *attest_world_new(void) {
  struct attest_world *world = calloc(1, sizeof *world);
  size_t n;
  demand(world != NULL, "calloc");
  world->line = attest_line_new();
  for (n = 0; n < DEVICES; n++) {
    world->devices[n] = attested_new(&world->line);
    world->assertions[n] = assertion_new(&world->devices[n], 1);
  }
  world->store = store_of(&world->line.root);
  world->receipt_store = store_of(&world->line.receipt_root);
  world->verifier = verifier_of(&world->line, -1);
  world->uncached = verifier_of(&world->line, 0);
  world->now = now_ms();
  return world;
}

void attest_rows(const struct selection *selection) {
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
    struct comparison found;
    if (!selection->wanted(rows[n].name)) continue;
    if (world == NULL) world = attest_world_new();
    pile.world = world;
    pile.verifier = rows[n].is_uncached ? world->uncached : world->verifier;
    found = compare(rows[n].ours, &pile, rows[n].baseline, &pile,
                    selection->rounds(rows[n].rounds), rows[n].calls);
    report(rows[n].name, &found);
  }
}
