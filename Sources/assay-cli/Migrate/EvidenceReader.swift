@_spi(AssaySwift) import Assay

/// Verifies the evidence of rows. Several threads may use it.
struct EvidenceReader: Sendable {
  let verifier: Verifier
  let nowMs: Int64

  /// The members in which Apple's servers, apps and shops keep evidence.
  private static let wrappers: [StaticString] = [
    "signedPayload", "signedTransactionInfo", "signedRenewalInfo", "signedTransaction", "jws",
    "receipt-data", "receiptData", "latest_receipt",
  ]
  /// The kinds that can contain purchases, beside the app transaction, which has none.
  private static let kinds: Set<String> = [
    "transaction", "renewal-info", "notification", "app-transaction", "transaction-receipt",
    "app-receipt",
  ]

  /// Returns the texts to verify in one evidence of a row, which may be JSON around them, and what
  /// an answer of verifyReceipt says of purchases without any.
  func texts(in evidence: [UInt8]) -> (texts: [[UInt8]], hearsay: [MigrateRow.Hearsay]) {
    guard evidence.first == 0x7b, let object = DocumentValue(json: evidence) else {
      return ([evidence], [])
    }
    let found = EvidenceReader.wrappers.compactMap { object.member($0)?.text }
    if !found.isEmpty { return (found.map { Array($0.utf8) }, []) }
    let hearsay = EvidenceReader.hearsay(of: object)
    return (hearsay.isEmpty ? [evidence] : [], hearsay)
  }

  /// Returns the kind of a text, without verifying it; `nil` for one that has no purchases.
  func kind(of text: [UInt8]) -> String? {
    EvidenceReader.kind(in: verifier.triage(text, nowMs: nowMs))
  }

  private static func kind(in triage: Document) -> String? {
    ProofKind.name(in: triage).flatMap { kinds.contains($0) ? $0 : nil }
  }

  func verify(_ text: [UInt8]) -> ReadEvidence {
    let triage = verifier.triage(text, nowMs: nowMs)
    guard let name = EvidenceReader.kind(in: triage), let kind = try? ProofKind(name) else {
      return refused(triage)
    }
    guard let document = try? kind.verify(text, by: verifier, subject: nil, nowMs: nowMs) else {
      return refused(triage)
    }
    return document.status == .ok ? .verified(document, kind: name) : refused(document)
  }

  /// A document of triage that is worth verifying, but is of no kind that contains purchases, is
  /// refused as evidence for a ledger.
  private func refused(_ document: Document) -> ReadEvidence {
    let isOpen = document.status.family == .pending
    let status = isOpen ? Status.misuseExchangeEvidence : document.status
    return .refused(
      status: "\(status.name)", at: isOpen ? "evidence" : document.text("error.at") ?? "",
      message: "\(status.message)")
  }

  /// Returns each subscription that an unsigned answer of verifyReceipt names, with its latest date.
  private static func hearsay(of answer: DocumentValue) -> [MigrateRow.Hearsay] {
    guard answer.member("status")?.integer != nil else { return [] }
    let receipt = answer.member("receipt")
    var entries: [DocumentValue] = []
    for list in [
      answer.member("latest_receipt_info"), answer.member("latest_expired_receipt_info"),
      receipt?.member("in_app"), receipt,
    ] {
      guard let list else { continue }
      entries += list.isArray ? list.children.map(\.value) : [list]
    }
    var found: [String: MigrateRow.Hearsay] = [:]
    for entry in entries {
      guard let id = entry.member("original_transaction_id")?.text, !id.isEmpty else { continue }
      var one = found[id] ?? MigrateRow.Hearsay(originalTransactionId: id)
      if let environment = answer.member("environment")?.text { one.environment = environment }
      let end = entry.member("expires_date_ms")?.integer ?? entry.member("expires_date")?.integer
      one.expiresAtMs = [one.expiresAtMs, end].compactMap(\.self).max()
      if entry.member("cancellation_date_ms") != nil { one.isRevoked = true }
      found[id] = one
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }
}
