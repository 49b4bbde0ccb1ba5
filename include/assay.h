/*
 * assay.h - verify what Apple signs, from any server language.
 *
 * libassay checks StoreKit 2 JWS against pinned roots and decides entitlements
 * from them. It opens no socket and no file, starts no thread, installs no
 * signal handler, reads no clock and no environment variable.
 *
 * CONVENTIONS (hold for every function below)
 *
 *   Names      assay_<noun>_<verb>, or assay_<verb>_<noun> for the checks.
 *              A handle made by ..._new is freed with ..._free, which
 *              accepts NULL.
 *   Inputs     (pointer, length) pairs. No terminator is needed, NUL bytes
 *              are data, nothing is kept after the call returns. A NULL
 *              pointer is allowed only with length 0.
 *   Outputs    The last parameters. They are always written: on return
 *              *out is a live object or NULL, never garbage. Evidence is
 *              read first, so an output may be a variable that evidence
 *              was given in; what it held is not freed.
 *   Documents  Most calls give an assay_doc, on success AND on
 *              refusal: one immutable JSON object with the facts, the checks
 *              made and, when refused, the error. Free it either way.
 *   Status     0 (ASSAY_OK) means: verified, every check passed. Anything
 *              else means: do not trust. status & 0xff is the family and is
 *              all that code should branch on; the rest is detail.
 *   Time       now_ms is milliseconds since 1970-01-01 UTC, from the caller.
 *   Threads    Every function may be called from any thread. Handles taken
 *              as const may be used by many threads at once; others by one
 *              at a time. There is no last-error state.
 *   fork       Safe at any moment, in parent and child: it waits for
 *              calls in progress on other threads.
 *   Signals    No function may be called in a signal handler: they
 *              allocate memory. A signal during a call does no harm.
 *   Failure    Bad input never terminates the process. Exhausted memory
 *              does: the Swift runtime gives no way to recover from it.
 *   Stability  Within one ASSAY_ABI number symbols are only added, constants
 *              keep their values and JSON members keep their meaning; new
 *              members, checks and detail codes may appear.
 */
#ifndef ASSAY_H
#define ASSAY_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header. */
#define ASSAY_VERSION "0.1.0"
#define ASSAY_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */
#define ASSAY_ABI 0              /* also the number in libassay.so.N */

#ifndef ASSAY_API
#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#else
#define ASSAY_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types -------------------------------------------------------------- */

/** Pinned roots, apps, products and policy; caches proven chains. Shareable. */
typedef struct assay_verifier assay_verifier;
/** The public keys of a token issuer (a JWKS). Immutable, shareable. */
typedef struct assay_keyset assay_keyset;
/** A document: status, JSON, and the verified facts behind it. Immutable. */
typedef struct assay_doc assay_doc;
/** One run of an operation, by steps that the caller performs. */
typedef struct assay_exchange assay_exchange;

/** Outcome of a call: an ASSAY_ family in the low 8 bits, detail above. */
typedef int32_t assay_status;

/** Status families. Values are frozen. */
enum {
  ASSAY_OK = 0,          /**< Verified; every check passed. */
  ASSAY_REJECTED = 1,    /**< Well formed, but not authentic or not allowed. */
  ASSAY_MALFORMED = 2,   /**< Not the format it claims to be. */
  ASSAY_UNSUPPORTED = 3, /**< Algorithm, version or kind not handled. */
  ASSAY_TOO_LARGE = 4,   /**< A size, depth or count limit was exceeded. */
  ASSAY_MISUSE = 5,      /**< The caller broke a rule above. */
  ASSAY_CONFIG = 6,      /**< The configuration document is not usable. */
  ASSAY_UNAVAILABLE = 7, /**< Nothing usable came from the other side: retry. */
  ASSAY_INTERNAL = 8,    /**< A bug in libassay; nothing was trusted. */
  ASSAY_PENDING = 9      /**< Nothing is decided yet: take the next step. */
};

/** What a JWS must turn out to be. There is deliberately no "any". */
enum {
  ASSAY_JWS_TRANSACTION = 1,
  ASSAY_JWS_RENEWAL_INFO = 2,
  ASSAY_JWS_NOTIFICATION = 3, /**< with everything signed nested inside it */
  ASSAY_JWS_APP_TRANSACTION = 4,
  ASSAY_JWS_REALTIME_REQUEST = 5
};

/** Receipt formats. */
enum {
  ASSAY_RECEIPT_TRANSACTION = 1, /**< old-style, with "purchase-info" */
  ASSAY_RECEIPT_APP = 2,         /**< PKCS#7 app receipt */
  ASSAY_RECEIPT_ATTEST = 3       /**< App Attest receipt */
};

/** How client data is passed in. */
enum {
  ASSAY_CLIENT_DATA = 1,     /**< the bytes; they are hashed here */
  ASSAY_CLIENT_DATA_HASH = 2 /**< 16 to 64 bytes, used without hashing */
};

/** For assay_check_expiry: this date does not exist. */
#define ASSAY_NO_DATE INT64_MIN

/* ---- library ------------------------------------------------------------ */

/** Version of the loaded library, to compare with ASSAY_VERSION_NUMBER. */
ASSAY_API uint32_t assay_version_number(void);
/** Version of the loaded library as text. Static. */
ASSAY_API const char *assay_version(void);
/** JSON about this build: commit, compiler, libcrypto, features. Static. */
ASSAY_API const char *assay_build_info(void);
/** Name of a status, like "rejected.chain.untrusted-root". Static. */
ASSAY_API const char *assay_status_name(assay_status status);

/** For assay_status_text. */
enum {
  ASSAY_STATUS_NAME = 1,    /**< as assay_status_name */
  ASSAY_STATUS_MESSAGE = 2, /**< what happened */
  ASSAY_STATUS_HINT = 3,    /**< what to do, whatever the evidence */
  ASSAY_STATUS_RETRY = 4    /**< whether trying again can help, "never" say */
};
/**
 * A text about a status; "" where this library has none. Static.
 *
 * @param what one of ASSAY_STATUS_NAME to ASSAY_STATUS_RETRY; for another one
 *             the result is NULL
 */
ASSAY_API const char *assay_status_text(assay_status status, int32_t what);
/**
 * The HTTP status that a back end answers its own client: 200 for ASSAY_OK, by
 * family for a code that this library does not have, 500 where no client is
 * answered.
 */
ASSAY_API int32_t assay_status_http(assay_status status);
/**
 * The status after this one, by family and detail; ASSAY_OK after the last.
 * Begin with ASSAY_OK.
 */
ASSAY_API assay_status assay_status_next(assay_status status);

/* ---- documents ---------------------------------------------------------- */

/** The status the producing call returned; ASSAY_MISUSE for NULL. */
ASSAY_API assay_status assay_doc_status(const assay_doc *doc);
/**
 * The whole document as UTF-8 JSON, also NUL-terminated. Owned by doc.
 * @param len receives the length without the terminator; may be NULL.
 */
ASSAY_API const char *assay_doc_json(const assay_doc *doc, size_t *len);
/**
 * One member as text, by dotted path ("transaction.productId").
 * @return NULL if absent or not a string. Owned by doc.
 */
ASSAY_API const char *assay_doc_text(const assay_doc *doc, const char *path,
                                     size_t path_len, size_t *len);
/** One member as integer; fallback if absent or not an integer. */
ASSAY_API int64_t assay_doc_integer(const assay_doc *doc, const char *path,
                                    size_t path_len, int64_t fallback);
/** Free a document. */
ASSAY_API void assay_doc_free(assay_doc *doc);

/* ---- verifier ----------------------------------------------------------- */

/**
 * Build a verifier from a JSON configuration. Unknown members are refused.
 * @param doc receives the effective configuration, or the error; may be NULL.
 */
ASSAY_API assay_status assay_verifier_new(const char *config, size_t config_len,
                                          assay_verifier **out,
                                          assay_doc **doc);
/** Free a verifier. Documents made with it stay valid. */
ASSAY_API void assay_verifier_free(assay_verifier *verifier);

/* ---- evidence ----------------------------------------------------------- */

/** Verify one compact JWS with an x5c chain. kind is ASSAY_JWS_... . */
ASSAY_API assay_status assay_verify_jws(const assay_verifier *verifier,
                                        int32_t kind, const char *jws,
                                        size_t jws_len, int64_t now_ms,
                                        assay_doc **doc);
/**
 * Verify one receipt, raw or base64. kind is ASSAY_RECEIPT_... .
 * @param subject what the receipt must belong to: the 16-byte vendor id or the
 *                6-byte MAC of an app receipt, the public key of an App Attest
 *                receipt (65-byte X9.63 point or 91-byte SubjectPublicKeyInfo).
 *                NULL leaves that check out, and the document says so.
 */
ASSAY_API assay_status assay_verify_receipt(
    const assay_verifier *verifier, int32_t kind, const void *receipt,
    size_t receipt_len, const void *subject, size_t subject_len, int64_t now_ms,
    assay_doc **doc);
/**
 * Classify an untrusted input without cryptography: its format, and whether it
 * is worth verifying. Never ASSAY_OK: ASSAY_PENDING means "verify it next".
 */
ASSAY_API assay_status assay_triage(const assay_verifier *verifier,
                                    const void *blob, size_t blob_len,
                                    int64_t now_ms, assay_doc **doc);
/** Interpret a response of Apple's verifyReceipt endpoint. */
ASSAY_API assay_status assay_read_verify_receipt_response(
    const assay_verifier *verifier, const char *body, size_t body_len,
    int64_t now_ms, assay_doc **doc);
/**
 * Verify an App Attest attestation.
 * @param key_id the key identifier: 32 bytes, or their base64 or hex text.
 * @param client_data_kind ASSAY_CLIENT_DATA or ASSAY_CLIENT_DATA_HASH.
 */
ASSAY_API assay_status assay_verify_attestation(
    const assay_verifier *verifier, const void *attestation,
    size_t attestation_len, const void *key_id, size_t key_id_len,
    int32_t client_data_kind, const void *client_data, size_t client_data_len,
    int64_t now_ms, assay_doc **doc);
/**
 * Verify an App Attest assertion.
 * @param public_key the key that the attestation's document reports: 65-byte
 *                   X9.63 point or 91-byte SubjectPublicKeyInfo.
 * @param counter    last counter stored for this key, 0 at first; the new one
 *                   is in doc, to be stored only if the stored one is smaller.
 */
ASSAY_API assay_status assay_verify_assertion(
    const assay_verifier *verifier, const void *assertion, size_t assertion_len,
    const void *public_key, size_t public_key_len, uint32_t counter,
    int32_t client_data_kind, const void *client_data, size_t client_data_len,
    int64_t now_ms, assay_doc **doc);

/**
 * Read a JWKS; a member "issuer" beside "keys" says whose it is.
 * @param out receives the key set, which remembers the texts whose signature it
 *            has verified: a refreshed one is a new one.
 * @param doc receives its keys and those that were skipped, or the error; may
 *            be NULL.
 */
ASSAY_API assay_status assay_keyset_new(const char *jwks, size_t jwks_len,
                                        assay_keyset **out, assay_doc **doc);
/** Free a key set. Documents made with it stay valid. */
ASSAY_API void assay_keyset_free(assay_keyset *keys);
/**
 * Verify an access token against a key set and the configured issuers. With
 * ASSAY_OK the document says who is calling ("token.subject"). Sign-out and
 * deleted users are not seen offline.
 * @param token the compact JWS alone, without the word Bearer.
 */
ASSAY_API assay_status assay_verify_token(const assay_verifier *verifier,
                                          const assay_keyset *keys,
                                          const char *token, size_t token_len,
                                          int64_t now_ms, assay_doc **doc);

/* ---- decision ----------------------------------------------------------- */

/**
 * Decide plan, state and next check time from verified documents. Takes
 * documents, not JSON, so that only what this process verified can count:
 * keep the raw evidence in your store and verify it again. ASSAY_OK means
 * that a plan above the default is in force at now_ms; the document holds
 * the decision either way.
 * @param account the appAccountToken that the evidence must carry, a UUID
 *                in text form; NULL leaves that check to the configured
 *                policy ("decision.accountToken").
 */
ASSAY_API assay_status assay_decide(const assay_verifier *verifier,
                                    const assay_doc *const *evidence,
                                    size_t evidence_count, const char *account,
                                    size_t account_len, int64_t now_ms,
                                    assay_doc **doc);
/**
 * Check whether dates that you stored earlier are still in force. A date is
 * ASSAY_NO_DATE when absent. In force: not revoked, and now_ms < expires_ms or
 * < grace_ms. With both absent: not in force; INT64_MAX in expires_ms means
 * "without end".
 */
ASSAY_API assay_status assay_check_expiry(int64_t expires_ms, int64_t grace_ms,
                                          int64_t revoked_ms, int64_t now_ms);

/**
 * Run an operation that has no steps, described in JSON, such as
 * {"operation":"assess-risk","observations":{"request":"promo", ...}}: see
 * docs/exchanges.md. An operation with steps is ASSAY_MISUSE
 * ("misuse.exchange.operation"): it is for assay_exchange_new.
 * @param evidence verified documents that the request is about; may be NULL
 *                 when evidence_count is 0.
 */
ASSAY_API assay_status assay_call(const assay_verifier *verifier,
                                  const char *request, size_t request_len,
                                  const assay_doc *const *evidence,
                                  size_t evidence_count, int64_t now_ms,
                                  assay_doc **doc);

/* ---- network and stores, without I/O ------------------------------------ */

/**
 * Start an exchange described in JSON, such as
 * {"operation":"get-transaction-info","environment":"Production", ...}. The
 * document has the first step, which the caller performs, or the result of an
 * operation that needs none.
 * @param evidence verified documents that the exchange is about; may be
 *                 NULL when evidence_count is 0.
 * @param out      receives the exchange; NULL when it was done at once.
 */
ASSAY_API assay_status assay_exchange_new(const assay_verifier *verifier,
                                          const char *request,
                                          size_t request_len,
                                          const assay_doc *const *evidence,
                                          size_t evidence_count, int64_t now_ms,
                                          assay_exchange **out,
                                          assay_doc **doc);
/**
 * Pass the reply to the open step, as JSON; doc receives the next step or the
 * result.
 * ASSAY_PENDING: go on. ASSAY_MISUSE: nothing changed, the step is still open.
 * Anything else: the exchange is over; so it is after
 * misuse.ledger.transaction, when a grant has ended its own transaction.
 */
ASSAY_API assay_status assay_exchange_step(assay_exchange *exchange,
                                           const char *reply,
                                           size_t reply_len, int64_t now_ms,
                                           assay_doc **doc);
/** Free an exchange, finished or not. */
ASSAY_API void assay_exchange_free(assay_exchange *exchange);

#ifdef __cplusplus
}
#endif
#endif /* ASSAY_H */
