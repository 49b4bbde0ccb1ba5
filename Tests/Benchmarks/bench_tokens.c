/* bench_tokens.c - the rows of access tokens. */
#include <openssl/core_names.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "bench.h"

/* More tokens than a key set remembers, so that each token in turn is
 * unseen. */
enum { TOKENS = 1100 };

struct token {
  char *text;
  size_t length, signed_length;
  struct bytes signature;
};

struct token_world {
  EVP_PKEY *key;
  struct token tokens[TOKENS];
  assay_verifier *verifier;
  assay_keyset *keys;
  long long now;
};

#define ISSUER "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE"

/* Signs a token of the form and size of a Cognito access token. */
static void token_sign(struct token *token, EVP_PKEY *key, long long now,
                       int number) {
  static const char header[] = "{\"kid\":\"bench\",\"alg\":\"RS256\"}";
  char *claims = format(
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
  char *head = base64url((const unsigned char *)header, strlen(header));
  char *body = base64url((const unsigned char *)claims, strlen(claims));
  char *text = format("%s.%s", head, body), *signature;
  token->signed_length = strlen(text);
  token->signature =
      signature_new(key, EVP_sha256(), text, token->signed_length);
  signature = base64url(token->signature.at, token->signature.length);
  token->text = format("%s.%s", text, signature);
  token->length = strlen(token->text);
  free(signature);
  free(text);
  free(body);
  free(head);
  free(claims);
}

static assay_keyset *keyset_of(EVP_PKEY *key) {
  unsigned char modulus[256];
  char *number, *text;
  BIGNUM *n = NULL;
  assay_keyset *keys = NULL;
  demand(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n) == 1 &&
             BN_bn2bin(n, modulus) == sizeof modulus,
         "a modulus of 2,048 bits");
  BN_free(n);
  number = base64url(modulus, sizeof modulus);
  text = format(
      "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"bench\",\"alg\":\"RS256\","
      "\"e\":\"AQAB\",\"n\":\"%s\"}]}",
      number);
  demand(assay_keyset_new(text, strlen(text), &keys, NULL) == ASSAY_OK,
         "assay_keyset_new");
  free(text);
  free(number);
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
  world->verifier = verifier_new(strdup(config));
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
  use(doc, status, ASSAY_OK);
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

/* Verifies RS256 with a parsed key. */
static void bare_call(void *context, size_t index) {
  const struct token_world *world = context;
  const struct token *token = &world->tokens[index % TOKENS];
  bare_signature(world->key, EVP_sha256(), token->signature.at,
                 token->signature.length, token->text, token->signed_length);
}

void token_rows(void) {
  struct token_world *world;
  if (!wanted("token") && !wanted("token-seen")) return;
  world = token_world_new();
  row("token", unseen_call, world, bare_call, world, 101, 200);
  row("token-seen", seen_call, world, bare_call, world, 101, 200);
}
