/*
 * handles.cpp - what assay.hpp adds to assay.h: handles, Error, optional texts. For the tests.
 *
 * Prints each expectation that fails; exit code 0 if none does.
 */
#include <assay.hpp>

#include <iostream>
#include <type_traits>

template <class Handle>
constexpr bool is_moved_only = std::is_nothrow_move_constructible_v<Handle> &&
                               std::is_nothrow_move_assignable_v<Handle> &&
                               !std::is_copy_constructible_v<Handle>;
static_assert(is_moved_only<assay::Verifier> && is_moved_only<assay::Document> &&
              is_moved_only<assay::Keyset> && is_moved_only<assay::Exchange>);

static int failed = 0;

static void expect(bool holds, const char *what) {
  if (holds) return;
  std::cout << "failed: " << what << "\n";
  failed++;
}

// Returns the status name of the Error that a call throws; "" if it throws none.
template <class Call>
static std::string thrown(Call call) {
  try {
    call();
  } catch (const assay::Error &error) {
    const std::string name(error.name());
    const assay::Error copy = error;
    expect(copy.document().text("status.name") == name, "Error has the document");
    expect(std::string(copy.what()).rfind(name + ": ", 0) == 0, "what() begins with the name");
    return name;
  }
  return "";
}

int main() {
  assay::Verifier verifier(
      R"({"apps":[{"bundleId":"com.example.app","appAppleId":1234567890}]})");
  expect(verifier.document().ok() && verifier.document().text("configuration.plans") == std::nullopt,
         "an array is no text");
  expect(verifier.document().integer("configuration.clockSkewMs") == 60000, "an integer");
  expect(verifier.document().integer("status.code") == 0, "0 is an integer");
  expect(!verifier.document().integer("status.name") && !verifier.document().integer("no.member"),
         "no integer");
  expect(thrown([] { assay::Verifier refused("{}x"); }) == "config.document.syntax",
         "a refused configuration");
  expect(thrown([] { assay::Verifier refused(""); }).rfind("config.", 0) == 0, "an empty text");
  expect(thrown([] { assay::Keyset refused("{}"); }) == "malformed.jwks.form", "a refused key set");
  expect(thrown([&] { (void)verifier.verify_jws(ASSAY_JWS_TRANSACTION, "a.b.c").require(); }) ==
             "malformed.jws.signature-length", "require()");

  assay::Document refused = verifier.verify_receipt(ASSAY_RECEIPT_APP, "x", "");
  expect(assay::name(refused.status()) == "misuse.receipt.subject", "an empty subject is checked");
  expect(assay::name(verifier.verify_receipt(ASSAY_RECEIPT_APP, "x", std::string_view()).status()) ==
             "misuse.receipt.subject", "also one without a pointer");
  expect(assay::family(verifier.verify_receipt(ASSAY_RECEIPT_APP, "x").status()) ==
             ASSAY_MALFORMED, "no subject");
  expect(assay::http(refused.status()) == 500 && assay::retry(refused.status()) == "never",
         "texts of a status");

  const char *const not_evidence = "misuse.decision.evidence";
  expect(assay::name(verifier.decide(refused).status()) == not_evidence, "one document");
  expect(assay::name(verifier.decide({refused, verifier.document()}).status()) == not_evidence,
         "two documents");
  expect(assay::name(verifier.decide({}).status()) == "misuse.decision.empty", "no document");
  assay::Evidence gathered{refused};
  gathered.push_back(refused.get());
  expect(gathered.size() == 2 && assay::name(verifier.decide(gathered).status()) == not_evidence,
         "documents gathered one by one");

  const assay::Document risk = verifier.call(
      R"({"operation":"assess-risk","observations":{"request":"paid","attestation":"unsupported"}})");
  expect(risk.text("kind") == "risk", "a call");
  auto [exchange, step] = verifier.start(
      R"({"operation":"fetch-keyset","url":"https://appleid.apple.com/auth/keys"})");
  expect(exchange.get() == nullptr && !step.ok() && !step.pending(), "a refused exchange");
  expect(assay::name(exchange.step("{}").status()) == "misuse.call.argument", "a step of none");

  expect(assay::check_expiry(INT64_MAX) == ASSAY_OK, "without end");
  expect(assay::check_expiry(std::nullopt) == assay::check_expiry({}, {}, {}), "no dates");
  expect(assay::family(assay::check_expiry(INT64_MAX, {}, 1)) == ASSAY_REJECTED, "revoked");

  const assay::Document kept = std::move(refused);
  expect(!refused.ok() && assay::family(refused.status()) == ASSAY_MISUSE, "moved from");
  expect(refused.json().empty() && kept.json().front() == '{', "the text moves along");
  const assay::Verifier moved = std::move(verifier);
  expect(assay::name(verifier.triage("x").status()) == "misuse.call.argument",
         "a verifier that was moved from");
  expect(assay::family(moved.triage("x").status()) == ASSAY_MALFORMED, "its new owner");
  return failed == 0 ? 0 : 1;
}
