/* bench_tokens.c - see bench_tokens.h. */
#include "bench_tokens.h"

#include <assay.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* More than a key set remembers: in turn, each is a text not seen before. */
enum { TOKENS = 1100, SIGNATURE = 256 };

struct token {
  char *text;
  size_t length, signed_length;
  unsigned char signature[SIGNATURE];
};

struct token_world {
  EVP_PKEY *key;
  struct token tokens[TOKENS];
  assay_verifier *verifier;
  assay_keyset *keys;
  long long now;
};

#define ISSUER "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE"

/* base64url without padding; returns where it ends. */
static char *base64url(char *out, const unsigned char *bytes, size_t length) {
  int count = EVP_EncodeBlock((unsigned char *)out, bytes, (int)length), n;
  while (count > 0 && out[count - 1] == '=') count--;
  for (n = 0; n < count; n++)
    out[n] = out[n] == '+' ? '-' : out[n] == '/' ? '_' : out[n];
  out[count] = 0;
  return out + count;
}

/* The shape and the size of a Cognito access token. */
static void token_sign(struct token *token, EVP_PKEY *key, long long now,
                       int number) {
  static const char header[] = "{\"kid\":\"bench\",\"alg\":\"RS256\"}";
  char claims[1024], *at;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t length = SIGNATURE;
  snprintf(claims, sizeof claims,
           "{\"sub\":\"a1b2c3d4-0000-4000-8000-00000000c0de\","
           "\"cognito:groups\":[\"players\",\"testers\"],\"iss\":\"" ISSUER
           "\",\"client_id\":\"bench\","
           "\"origin_jti\":\"6a4f0f4e-0000-4000-8000-000000000001\","
           "\"event_id\":\"c6f3e1b2-0000-4000-8000-000000000002\","
           "\"token_use\":\"access\",\"scope\":\"openid shop/read shop/write\","
           "\"auth_time\":%lld,\"exp\":%lld,\"iat\":%lld,"
           "\"jti\":\"f00dfeed-0000-4000-8000-%012d\","
           "\"username\":\"player-one\"}",
           now / 1000 - 600, now / 1000 + 86400, now / 1000 - 60, number);
  token->text = malloc(2048);
  demand(token->text != NULL && context != NULL, "memory for a token");
  at = base64url(token->text, (const unsigned char *)header, strlen(header));
  *at++ = '.';
  at = base64url(at, (const unsigned char *)claims, strlen(claims));
  token->signed_length = (size_t)(at - token->text);
  demand(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
             EVP_DigestSign(context, token->signature, &length,
                            (unsigned char *)token->text,
                            token->signed_length) == 1 &&
             length == SIGNATURE,
         "EVP_DigestSign");
  EVP_MD_CTX_free(context);
  *at++ = '.';
  at = base64url(at, token->signature, SIGNATURE);
  token->length = (size_t)(at - token->text);
}

static assay_keyset *keyset_of(EVP_PKEY *key) {
  unsigned char modulus[SIGNATURE];
  char number[512], text[1024];
  BIGNUM *n = NULL;
  assay_keyset *keys = NULL;
  demand(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n) == 1 &&
             BN_bn2bin(n, modulus) == SIGNATURE,
         "a modulus of 2,048 bits");
  BN_free(n);
  base64url(number, modulus, SIGNATURE);
  snprintf(text, sizeof text,
           "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"bench\",\"alg\":\"RS256\","
           "\"e\":\"AQAB\",\"n\":\"%s\"}]}",
           number);
  demand(assay_keyset_new(text, strlen(text), &keys, NULL) == ASSAY_OK,
         "assay_keyset_new");
  return keys;
}

static struct token_world *token_world_new(void) {
  static const char config[] =
      "{\"apps\":[{\"bundleId\":\"com.example.bench\",\"appAppleId\":1}],"
      "\"tokens\":[{\"profile\":\"cognito-access\",\"clients\":[\"bench\"],"
      "\"issuers\":[\"" ISSUER "\"]}]}";
  struct token_world *world = calloc(1, sizeof *world);
  int n;
  demand(world != NULL, "calloc");
  world->now = now_ms();
  world->key = EVP_RSA_gen(2048);
  demand(world->key != NULL, "EVP_RSA_gen");
  for (n = 0; n < TOKENS; n++)
    token_sign(&world->tokens[n], world->key, world->now, n);
  demand(assay_verifier_new(config, strlen(config), &world->verifier, NULL) ==
             ASSAY_OK,
         "assay_verifier_new");
  world->keys = keyset_of(world->key);
  return world;
}

/* ---- the work ------------------------------------------------------------ */

static void token_call(const struct token_world *world,
                       const struct token *token) {
  assay_doc *doc;
  assay_status status =
      assay_verify_token(world->verifier, world->keys, token->text,
                         token->length, world->now, &doc);
  size_t length = 0;
  demand(status == ASSAY_OK, assay_status_name(status));
  demand(assay_doc_json(doc, &length) != NULL && length > 0, "assay_doc_json");
  assay_doc_free(doc);
}

static void unseen_call(void *context, size_t index) {
  static size_t next;
  const struct token_world *world = context;
  (void)index;
  token_call(world, &world->tokens[next++ % TOKENS]);
}

static void seen_call(void *context, size_t index) {
  const struct token_world *world = context;
  token_call(world, &world->tokens[index % 64]);
}

/* RS256 with a ready key. */
static void bare_call(void *context, size_t index) {
  const struct token_world *world = context;
  const struct token *token = &world->tokens[index % TOKENS];
  EVP_MD_CTX *check = EVP_MD_CTX_new();
  demand(
      EVP_DigestVerifyInit(check, NULL, EVP_sha256(), NULL, world->key) == 1 &&
          EVP_DigestVerify(check, token->signature, SIGNATURE,
                           (const unsigned char *)token->text,
                           token->signed_length) == 1,
      "EVP_DigestVerify");
  EVP_MD_CTX_free(check);
}

void token_rows(const struct selection *selection) {
  static const struct {
    const char *name;
    work *ours;
  } rows[] = {{"token", unseen_call}, {"token-seen", seen_call}};
  struct token_world *world = NULL;
  size_t n;
  for (n = 0; n < sizeof rows / sizeof *rows; n++) {
    struct comparison found;
    if (!selection->wanted(rows[n].name)) continue;
    if (world == NULL) world = token_world_new();
    found = compare(rows[n].ours, world, bare_call, world,
                    selection->rounds(101), 200);
    report(rows[n].name, &found);
  }
}
