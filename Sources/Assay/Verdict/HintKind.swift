/// The kind of evidence or call that a hint is written for: several kinds give the same status,
/// with a different remedy for each (DOC-3). `statuses.tsv` lists the kinds of each status.
enum HintKind: Sendable, CaseIterable {
  case jws, transactionReceipt, appReceipt, attestReceipt
  /// The App Attest receipt inside an attestation.
  case embeddedReceipt
  case verifyReceiptResponse, triage, attestation, assertion, token, keyset, decision, risk,
    exchange
  case configuration

  /// The name in `statuses.tsv`; for all kinds but two also the `kind` of documents.
  var name: StaticString {
    switch self {
    case .jws: return "jws"
    case .transactionReceipt: return "transaction-receipt"
    case .appReceipt: return "app-receipt"
    case .attestReceipt: return "attest-receipt"
    case .embeddedReceipt: return "embedded-receipt"
    case .verifyReceiptResponse: return "verify-receipt-response"
    case .triage: return "triage"
    case .attestation: return "attestation"
    case .assertion: return "assertion"
    case .token: return "token"
    case .keyset: return "keyset"
    case .decision: return "decision"
    case .risk: return "risk"
    case .exchange: return "exchange"
    case .configuration: return "configuration"
    }
  }
}
