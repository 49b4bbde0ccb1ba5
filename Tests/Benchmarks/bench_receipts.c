/* bench_receipts.c - the rows of receipts and of triage. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "bench.h"
#include "receipt_evidence.h"

enum { PURCHASES = 100, MIX = 1000 };

static const char ours[] = "com.example.bench";

/** Receipts that are verified or classified in turn. */
struct pile {
  const assay_verifier *verifier;
  int32_t kind;
  const struct receipt *receipts;
  size_t count;
  X509_STORE *store;
  int64_t now;
};

/* ---- the work ------------------------------------------------------------ */

static void verify_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  assay_doc *doc;
  assay_status status =
      assay_verify_receipt(pile->verifier, pile->kind, receipt->text,
                           receipt->length, NULL, 0, pile->now, &doc);
  use(doc, status, ASSAY_OK);
}

static void triage_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  assay_doc *doc;
  assay_status status = assay_triage(pile->verifier, receipt->text,
                                     receipt->length, pile->now, &doc);
  use(doc, status, status);
}

/* Verifies SHA-1 RSA with a parsed key over decoded bytes. */
static void rsa_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  bare_signature(receipt->line->leaf.key, EVP_sha1(), receipt->signature.at,
                 receipt->signature.length, receipt->signed_bytes,
                 receipt->signed_length);
}

/* Makes the checks of a careful C program: base64, CMS, chain and signature. */
static void cms_call(void *context, size_t index) {
  const struct pile *pile = context;
  const struct receipt *receipt = &pile->receipts[index % pile->count];
  unsigned char *der = malloc(receipt->length);
  demand(der != NULL &&
             EVP_DecodeBlock(der, (const unsigned char *)receipt->text,
                             (int)receipt->length) > 0,
         "EVP_DecodeBlock");
  bare_cms(pile->store, der, receipt->decoded.length);
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

/* Returns one day's input of a payment server (docs/spec/receipts-triage.md
 * 1.1): of 1,000 inputs 750 transaction receipts and 40 app receipts of other
 * apps, 93 from a cracking tool, the rest receipts of the server's own app. */
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
    /* 7 and 1,000 have no common divisor, so that every class is spread
     * evenly. */
    unsigned place = n * 7 % MIX;
    if (n < 750)
      mix[place] = foreign[n % 8];
    else if (n < 790)
      mix[place] = app;
    else if (n < 883)
      mix[place] = cracker_new(n);
    else
      mix[place] = own[n % 8];
    /* A copy of its own for each position, as each request has. */
    mix[place].text = strdup(mix[place].text);
  }
  return mix;
}

void receipt_rows(void) {
  struct receipt_line line;
  struct receipt transaction, app;
  struct pile one = {0}, apps, mix;
  if (!wanted("receipt-transaction") && !wanted("receipt-app") &&
      !wanted("triage"))
    return;
  line = receipt_line_new();
  transaction = transaction_receipt_new(&line, ours, 1);
  app = app_receipt_new(&line, ours, PURCHASES);
  printf("# transaction receipt: %zu bytes of base64; app receipt with %d "
         "purchases: %zu\n",
         transaction.length, PURCHASES, app.length);
  one.verifier = verifier_new(receipt_configuration(&line));
  one.now = now_ms();
  one.count = 1;
  one.kind = ASSAY_RECEIPT_TRANSACTION;
  one.receipts = &transaction;
  row("receipt-transaction", verify_call, &one, rsa_call, &one, 101, 200);
  apps = one;
  apps.kind = ASSAY_RECEIPT_APP;
  apps.receipts = &app;
  /* Receipts have SHA-1 and old keys, which only security level 0 accepts. */
  apps.store = bare_store_any(&line.root, 0);
  row("receipt-app", verify_call, &apps, cms_call, &apps, 101, 10);
  mix = one;
  mix.receipts = mix_new(&line);
  mix.count = MIX;
  row("triage", triage_call, &mix, decode_call, &mix, 51, 2 * MIX);
}
