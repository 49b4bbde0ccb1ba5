/* bench_receipts.c - see bench_receipts.h. */
#define _GNU_SOURCE
#include "bench_receipts.h"

#include <assay.h>
#include <openssl/cms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "receipt_evidence.h"

enum { PURCHASES = 100, MIX = 1000 };

static const char ours[] = "com.example.bench";

/** Receipts that are looked at in turn. */
struct pile {
  const assay_verifier *verifier;
  int32_t kind;
  const struct receipt *receipts;
  size_t count;
  X509_STORE *store;
  int64_t now;
};

/* ---- the work ------------------------------------------------------------ */

static void use(assay_doc *doc) {
  size_t length = 0;
  demand(assay_doc_json(doc, &length) != NULL && length > 0, "assay_doc_json");
  assay_doc_free(doc);
}

static void verify_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  assay_doc *doc;
  assay_status status =
      assay_verify_receipt(pile->verifier, pile->kind, receipt->text,
                           receipt->length, NULL, 0, pile->now, &doc);
  demand(status == ASSAY_OK, assay_status_name(status));
  use(doc);
}

static void triage_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  assay_doc *doc;
  assay_triage(pile->verifier, receipt->text, receipt->length, pile->now, &doc);
  use(doc);
}

/* SHA-1 RSA with a ready key over the ready bytes. */
static void rsa_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  EVP_MD_CTX *check = EVP_MD_CTX_new();
  demand(EVP_DigestVerifyInit(check, NULL, EVP_sha1(), NULL,
                              receipt->line->leaf.key) == 1 &&
             EVP_DigestVerify(check, receipt->signature,
                              sizeof receipt->signature, receipt->signed_bytes,
                              receipt->signed_length) == 1,
         "EVP_DigestVerify");
  EVP_MD_CTX_free(check);
}

/* What a careful C program does: base64, CMS, chain and signature. */
static void cms_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  unsigned char *der = malloc(receipt->length);
  const unsigned char *read = der;
  CMS_ContentInfo *cms;
  BIO *out = BIO_new(BIO_s_mem());
  demand(der != NULL &&
             EVP_DecodeBlock(der, (const unsigned char *)receipt->text,
                             (int)receipt->length) > 0,
         "EVP_DecodeBlock");
  cms = d2i_CMS_ContentInfo(NULL, &read, (long)receipt->decoded_length);
  demand(cms != NULL &&
             CMS_verify(cms, NULL, pile->store, NULL, out, CMS_BINARY) == 1,
         "CMS_verify");
  CMS_ContentInfo_free(cms);
  BIO_free(out);
  free(der);
}

static void decode_call(void *context, size_t index) {
  static unsigned char room[1 << 17];
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  demand(receipt->length < sizeof room, "a receipt of a known size");
  demand(EVP_DecodeBlock(room, (const unsigned char *)receipt->text,
                         (int)receipt->length) > 0,
         "EVP_DecodeBlock");
}

/* ---- rows ---------------------------------------------------------------- */

static X509_STORE *store_of(const struct receipt_line *line) {
  X509_STORE *store = X509_STORE_new();
  X509_VERIFY_PARAM *rules = X509_VERIFY_PARAM_new();
  /* SHA-1 and old keys are what receipts have: level 0, whatever the default. */
  X509_VERIFY_PARAM_set_auth_level(rules, 0);
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_ANY);
  demand(X509_STORE_add_cert(store, line->root.certificate) == 1 &&
             X509_STORE_set1_param(store, rules) == 1,
         "X509_STORE");
  X509_VERIFY_PARAM_free(rules);
  return store;
}

/* The day of a payment server (docs/spec/receipts-triage.md 1.1): of 1,000
 * blobs 750 transaction receipts and 40 app receipts of other apps, 93 of a
 * cracking program, the rest ours. */
static struct receipt *mix_new(const struct receipt_line *line) {
  struct receipt *mix = calloc(MIX, sizeof *mix);
  struct receipt foreign[8], app = app_receipt_new(line, "org.example.other", 3);
  struct receipt own[8];
  unsigned n;
  demand(mix != NULL, "calloc");
  for (n = 0; n < 8; n++) {
    char bundle[40];
    snprintf(bundle, sizeof bundle, "org.example.other%u", n);
    foreign[n] = transaction_receipt_new(line, bundle, n);
    own[n] = transaction_receipt_new(line, ours, 100 + n);
  }
  for (n = 0; n < MIX; n++) {
    /* 7 has no divisor in common with 1,000: every class is spread evenly. */
    unsigned place = n * 7 % MIX;
    if (n < 750)
      mix[place] = foreign[n % 8];
    else if (n < 790)
      mix[place] = app;
    else if (n < 883)
      mix[place] = cracker_new(n);
    else
      mix[place] = own[n % 8];
    /* Each its own copy, as each request has. */
    mix[place].text = strdup(mix[place].text);
  }
  return mix;
}

void receipt_rows(const struct selection *selection) {
  struct receipt_line line;
  struct receipt transaction, app, *mix;
  struct pile pile = {0};
  struct comparison found;
  assay_verifier *verifier = NULL;
  char *config;
  if (!selection->wanted("receipt-transaction") &&
      !selection->wanted("receipt-app") && !selection->wanted("triage"))
    return;
  line = receipt_line_new();
  config = receipt_configuration(&line);
  demand(assay_verifier_new(config, strlen(config), &verifier, NULL) == 0,
         "assay_verifier_new");
  free(config);
  transaction = transaction_receipt_new(&line, ours, 1);
  app = app_receipt_new(&line, ours, PURCHASES);
  printf("# transaction receipt: %zu bytes of base64; app receipt with %d "
         "purchases: %zu\n",
         transaction.length, PURCHASES, app.length);
  pile.verifier = verifier;
  pile.now = now_ms();
  pile.count = 1;
  if (selection->wanted("receipt-transaction")) {
    pile.kind = ASSAY_RECEIPT_TRANSACTION;
    pile.receipts = &transaction;
    found = compare(verify_call, &pile, rsa_call, &pile,
                    selection->rounds(101), 200);
    report("receipt-transaction", &found);
  }
  if (selection->wanted("receipt-app")) {
    pile.kind = ASSAY_RECEIPT_APP;
    pile.receipts = &app;
    pile.store = store_of(&line);
    found = compare(verify_call, &pile, cms_call, &pile,
                    selection->rounds(101), 10);
    report("receipt-app", &found);
    X509_STORE_free(pile.store);
  }
  if (selection->wanted("triage")) {
    mix = mix_new(&line);
    pile.receipts = mix;
    pile.count = MIX;
    found = compare(triage_call, &pile, decode_call, &pile,
                    selection->rounds(51), 2 * MIX);
    report("triage", &found);
  }
  assay_verifier_free(verifier);
}
