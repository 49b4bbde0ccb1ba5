/*
 * mint.c - writes evidence for the measurements outside of C.
 *
 *   mint FOLDER
 *
 * FOLDER receives config.json, root.der, transaction.jws and notification.jws;
 * for App Attest attest.json, attest-root.pem, attestation.cbor, key-id.bin and
 * client-data.bin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/pem.h>

#include "attest_evidence.h"
#include "evidence.h"
#include "measure.h"

static void put_file(const char *folder, const char *name, const void *bytes,
                     size_t length) {
  char path[4096];
  FILE *file;
  int used = snprintf(path, sizeof path, "%s/%s", folder, name);
  demand(used > 0 && (size_t)used < sizeof path, "the folder's name");
  file = fopen(path, "wb");
  demand(file != NULL && fwrite(bytes, 1, length, file) == length &&
             fclose(file) == 0,
         path);
}

static void put_text(const char *folder, const char *name, const char *text) {
  put_file(folder, name, text, strlen(text));
}

static void put_attestation(const char *folder) {
  struct attest_line line = attest_line_new();
  struct attested device = attested_new(&line);
  BIO *text = BIO_new(BIO_s_mem());
  char *pem = NULL;
  long length;
  demand(PEM_write_bio_X509(text, line.root.certificate) == 1,
         "PEM_write_bio_X509");
  length = BIO_get_mem_data(text, &pem);
  put_file(folder, "attest-root.pem", pem, (size_t)length);
  put_text(folder, "attest.json", attest_configuration(&line, -1));
  put_file(folder, "attestation.cbor", device.attestation.at,
           device.attestation.length);
  put_file(folder, "key-id.bin", device.key_id, sizeof device.key_id);
  put_text(folder, "client-data.bin", attest_client_data);
  BIO_free(text);
}

int main(int argc, char **argv) {
  struct issuer root, intermediate;
  struct chain chain;
  struct jws transaction, renewal, notification;
  unsigned char *der = NULL;
  int length;
  if (argc != 2) {
    fputs("usage: mint FOLDER\n", stderr);
    return 2;
  }
  root = root_new();
  intermediate = intermediate_new(&root);
  chain = chain_new(&root, &intermediate);
  transaction = jws_sign(&chain, transaction_payload());
  renewal = jws_sign(&chain, renewal_payload());
  notification =
      jws_sign(&chain, notification_payload(&transaction, &renewal));
  length = i2d_X509(root.certificate, &der);
  demand(length > 0, "i2d_X509");
  put_file(argv[1], "root.der", der, (size_t)length);
  put_text(argv[1], "config.json", configuration(&root, -1));
  put_text(argv[1], "transaction.jws", transaction.text);
  put_text(argv[1], "notification.jws", notification.text);
  put_attestation(argv[1]);
  return 0;
}
