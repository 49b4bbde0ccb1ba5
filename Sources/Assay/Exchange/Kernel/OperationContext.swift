/// The input of an operation: its request, its evidence and the verifier's state.
struct OperationContext {
  let request: ExchangeRequest
  /// The evidence, in the number and of the classes that the operation accepts (EXC-2).
  let evidence: [VerifiedEvidence]
  /// The time of the call that began the operation, in milliseconds since 1970 UTC.
  let nowMs: Int64
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  let attempt: Int64
  let trust: StoreKitTrust
  let receipts: ReceiptTrust
  let attest: AttestTrust
  let triage: Triage
  /// The digest of the verifier's configuration.
  let fingerprint: [UInt8]
  /// The checks made so far.
  let checks: Checks<ExchangeCheck>

  var configuration: Configuration { trust.configuration }

  /// The document of an operation without steps.
  var answer: ExchangeDocument {
    var checks = checks
    checks.enter(.result)
    return ExchangeDocument(
      operation: request.kind.name, configuration: fingerprint, checks: checks.log)
  }
}
