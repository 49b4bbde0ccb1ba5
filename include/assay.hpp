/*
 * assay.hpp - assay.h for C++17: handles that free themselves, and Error.
 *
 * The conventions, the constants and the functions without a handle are those of assay.h.
 *
 *   Handles     Verifier, Keyset, Exchange and Document own one each, which get() returns. They
 *               are moved, never copied; a moved-from one is refused as ASSAY_MISUSE.
 *   Text        Inputs are std::string_view, also for bytes. An optional one that is empty is
 *               checked: only std::nullopt omits the check.
 *   Time        The default is the system's clock, which is read here.
 *   Exceptions  Document::require and the constructors of Verifier and Keyset throw Error.
 */
#ifndef ASSAY_HPP
#define ASSAY_HPP

#if __cplusplus < 201703L
#error "assay.hpp needs C++17; assay.h alone needs C++11"
#endif

#include <assay.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

using std::int32_t, std::int64_t, std::string_view;
/** Text that may be absent. */
using OptionalText = std::optional<string_view>;

/** Returns the system's time in milliseconds since 1970-01-01 UTC. */
inline int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

/** Returns the family of a status: all that code should branch on. */
constexpr int32_t family(assay_status status) { return status & 0xff; }
/** Returns the name of a status, like "rejected.chain.untrusted-root". */
inline string_view name(assay_status status) { return assay_status_name(status); }
/** Returns whether trying again can help, such as "never". */
inline string_view retry(assay_status code) { return assay_status_text(code, ASSAY_STATUS_RETRY); }
/** Returns the HTTP status that a back end answers its own client. */
inline int32_t http(assay_status status) { return assay_status_http(status); }

/** Frees any handle. */
struct Free {
  void operator()(assay_doc *doc) const { assay_doc_free(doc); }
  void operator()(assay_keyset *keys) const { assay_keyset_free(keys); }
  void operator()(assay_verifier *made) const { assay_verifier_free(made); }
  void operator()(assay_exchange *begun) const { assay_exchange_free(begun); }
};

/** The immutable JSON answer of a call, with the verified facts behind it. */
class Document {
 public:
  /** Takes over a document of assay.h. */
  explicit Document(assay_doc *doc) : handle_(doc) {}
  const assay_doc *get() const { return handle_.get(); }
  assay_status status() const { return assay_doc_status(get()); }
  /** Whether every check passed. */
  bool ok() const { return status() == ASSAY_OK; }
  /** Whether nothing is decided: an open step, or blob worth verifying. */
  bool pending() const { return family(status()) == ASSAY_PENDING; }
  /** Returns the verified document. Throws Error, which takes a refused one. */
  [[nodiscard]] Document require() &&;
  /** Returns the whole document as JSON, which this document owns. */
  string_view json() const & {
    size_t len = 0;
    const char *text = assay_doc_json(get(), &len);
    return {text != nullptr ? text : "", len};
  }
  /** Returns one member by dotted path, such as "error.hint"; std::nullopt if it is no string. */
  OptionalText text(string_view path) const & {
    size_t len = 0;
    const char *text = assay_doc_text(get(), path.data(), path.size(), &len);
    return text != nullptr ? OptionalText({text, len}) : std::nullopt;
  }
  string_view json() const && = delete; /* they would dangle */
  OptionalText text(string_view path) const && = delete;
  /** Returns one member by dotted path; std::nullopt if it is no integer. */
  std::optional<int64_t> integer(string_view path) const {
    const auto member = [&](int64_t fallback) {
      return assay_doc_integer(get(), path.data(), path.size(), fallback);
    };
    return member(0) == 0 && member(1) == 1 ? std::nullopt : std::optional(member(0));
  }

 private:
  std::unique_ptr<assay_doc, Free> handle_;
};

/** A refusal. what() is the name of the status and its message. */
class Error : public std::runtime_error {
 public:
  explicit Error(Document refused)
      : runtime_error(std::string(assay::name(refused.status())) + ": " +
                      assay_status_text(refused.status(), ASSAY_STATUS_MESSAGE)),
        document_(std::make_shared<const Document>(std::move(refused))) {}
  assay_status status() const { return document_->status(); }
  string_view name() const { return assay::name(status()); }
  /** Returns the refused document, with the checks made and the error. */
  const Document &document() const { return *document_; }

 private:
  std::shared_ptr<const Document> document_; /* an exception is copied */
};

inline Document Document::require() && {
  return ok() ? std::move(*this) : throw Error(std::move(*this));
}

/** Documents as an argument: one, or {a, b}. They must outlive it. */
struct Evidence : std::vector<const assay_doc *> {
  Evidence(const Document &document) { push_back(document.get()); }
  Evidence(std::initializer_list<std::reference_wrapper<const Document>> documents) {
    for (const Document &document : documents) push_back(document.get());
  }
};

/** What is made of a text: a handle, and a document about it. */
template <class Handle>
class Made {
 public:
  const Handle *get() const { return handle_.get(); }
  /** Returns the effective configuration, or the keys and those that were skipped. */
  const Document &document() const { return document_; }

 protected:
  template <class New>
  Made(New make, string_view text) {
    Handle *made = nullptr;
    assay_doc *doc = nullptr;
    make(text.data(), text.size(), &made, &doc);
    handle_.reset(made);
    document_ = Document(doc).require();
  }

 private:
  std::unique_ptr<Handle, Free> handle_;
  Document document_{nullptr};
};

/** The public keys of a token issuer. Immutable, shareable. */
class Keyset : public Made<assay_keyset> {
 public:
  /** Reads a JWKS. Throws Error. */
  explicit Keyset(string_view jwks) : Made(assay_keyset_new, jwks) {}
};

/** One run of an operation, by steps that the caller performs. */
class Exchange {
 public:
  /** Takes over an exchange of assay.h: Verifier::start makes one. */
  explicit Exchange(assay_exchange *begun) : handle_(begun) {}
  assay_exchange *get() const { return handle_.get(); }
  /** Passes the reply to the open step. Returns the next step or the result. */
  Document step(string_view reply, int64_t now = now_ms()) {
    assay_doc *doc = nullptr;
    assay_exchange_step(get(), reply.data(), reply.size(), now, &doc);
    return Document(doc);
  }

 private:
  std::unique_ptr<assay_exchange, Free> handle_;
};

/** Pinned roots, apps, products and policy. Immutable, shareable. Each method calls the function
 *  of its name, whose comment in assay.h has the details. */
class Verifier : public Made<assay_verifier> {
 public:
  /** Reads a JSON configuration. Throws Error. */
  explicit Verifier(string_view config) : Made(assay_verifier_new, config) {}

  Document verify_jws(int32_t kind, string_view jws, int64_t now = now_ms()) const {
    return made(assay_verify_jws, kind, jws.data(), jws.size(), now);
  }
  Document verify_receipt(int32_t kind, string_view receipt, OptionalText subject = {},
                          int64_t now = now_ms()) const {
    return made(assay_verify_receipt, kind, receipt.data(), receipt.size(), pointer(subject),
                length(subject), now);
  }
  Document triage(string_view blob, int64_t now = now_ms()) const {
    return made(assay_triage, blob.data(), blob.size(), now);
  }
  Document read_verify_receipt_response(string_view body, int64_t now = now_ms()) const {
    return made(assay_read_verify_receipt_response, body.data(), body.size(), now);
  }
  Document verify_attestation(string_view attestation, string_view key_id, int32_t data_kind,
                              string_view data, int64_t now = now_ms()) const {
    return made(assay_verify_attestation, attestation.data(), attestation.size(), key_id.data(),
                key_id.size(), data_kind, data.data(), data.size(), now);
  }
  Document verify_assertion(string_view assertion, string_view public_key, std::uint32_t counter,
                            int32_t data_kind, string_view data, int64_t now = now_ms()) const {
    return made(assay_verify_assertion, assertion.data(), assertion.size(), public_key.data(),
                public_key.size(), counter, data_kind, data.data(), data.size(), now);
  }
  Document verify_token(const Keyset &keys, string_view token, int64_t now = now_ms()) const {
    return made(assay_verify_token, keys.get(), token.data(), token.size(), now);
  }
  Document decide(const Evidence &evidence, OptionalText account = {},
                  int64_t now = now_ms()) const {
    return made(assay_decide, evidence.data(), evidence.size(), pointer(account), length(account),
                now);
  }
  Document call(string_view request, const Evidence &evidence = {}, int64_t now = now_ms()) const {
    return made(assay_call, request.data(), request.size(), evidence.data(), evidence.size(), now);
  }
  /** Starts an exchange. Returns it with its first step, or with its result if it needs none. */
  std::pair<Exchange, Document> start(string_view request, const Evidence &evidence = {},
                                      int64_t now = now_ms()) const {
    assay_exchange *begun = nullptr;
    assay_doc *doc = nullptr;
    assay_exchange_new(get(), request.data(), request.size(), evidence.data(), evidence.size(),
                       now, &begun, &doc);
    return {Exchange(begun), Document(doc)};
  }

 private:
  template <class Function, class... Arguments>
  Document made(Function function, Arguments... arguments) const {
    assay_doc *doc = nullptr;
    function(get(), arguments..., &doc);
    return Document(doc);
  }
  /* NULL would omit the check. */
  static const char *pointer(OptionalText text) {
    return !text ? nullptr : text->data() != nullptr ? text->data() : "";
  }
  static size_t length(OptionalText text) { return text ? text->size() : 0; }
};

/** Returns ASSAY_OK if dates that you stored earlier are still in force. */
inline assay_status check_expiry(std::optional<int64_t> expires, std::optional<int64_t> grace = {},
                                 std::optional<int64_t> revoked = {}, int64_t now = now_ms()) {
  return assay_check_expiry(expires.value_or(ASSAY_NO_DATE), grace.value_or(ASSAY_NO_DATE),
                            revoked.value_or(ASSAY_NO_DATE), now);
}

}  // namespace assay
#endif /* ASSAY_HPP */
