/// What is known when a request is carried out.
struct KindContext {
  let request: ExchangeRequest
  /// As many as the kind takes, of its classes (EXC-2).
  let evidence: [VerifiedEvidence]
  /// Milliseconds since 1970 UTC, of the call that began it.
  let nowMs: Int64
  /// EXC-18: the number of this conversation about it, from 1.
  let attempt: Int64
  let trust: StoreKitTrust
  let receipts: ReceiptTrust
  let attest: AttestTrust
  let triage: Triage
  /// The fingerprint of the verifier's configuration.
  let fingerprint: [UInt8]
  /// Made so far.
  let checks: Checks<ExchangeCheck>

  var configuration: Configuration { trust.configuration }

  /// The document of a kind without steps.
  var answer: ExchangeDocument {
    var checks = checks
    checks.enter(.result)
    return ExchangeDocument(
      kind: request.kind.name, configuration: fingerprint, checks: checks.ledger)
  }
}
