/*
 * product.c - verify one transaction and print its product id.
 *
 *   product CONFIG.json < purchase.jws
 *
 * Exit code 0: verified. 1: refused. 2: incorrect usage.
 */
#include <assay.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static char config[65536], jws[1 << 20];

static size_t read_all(FILE *file, char *bytes, size_t room) {
  size_t len = fread(bytes, 1, room, file);
  while (len > 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r')) len--;
  return len;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  assay_status status;
  size_t len;

  if (file == NULL) {
    fprintf(stderr, "usage: product CONFIG.json < purchase.jws\n");
    return 2;
  }
  len = read_all(file, config, sizeof config);
  fclose(file);
  if (assay_verifier_new(config, len, &verifier, &doc) != ASSAY_OK) {
    fprintf(stderr, "%s\n", assay_doc_json(doc, NULL));
    assay_doc_free(doc);
    return 2;
  }
  assay_doc_free(doc);

  len = read_all(stdin, jws, sizeof jws);
  status = assay_verify_jws(verifier, ASSAY_JWS_TRANSACTION, jws, len,
                            (int64_t)time(NULL) * 1000, &doc);
  if (status == ASSAY_OK) {
    const char *path = "transaction.productId";
    printf("%s\n", assay_doc_text(doc, path, strlen(path), NULL));
  } else {
    fprintf(stderr, "%s\n", assay_status_name(status));
  }
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  return status == ASSAY_OK ? 0 : 1;
}
