/// What one verified document contributes to a decision.
struct PurchaseEvidence: Sendable {
  /// The kind of the document, as in `kind` ("transaction", "notification").
  var kind: StaticString
  var purchases: [PurchaseFacts]
  var renewals: [RenewalFacts]
  /// As of when the document speaks, and how it is trusted: what is left to say
  /// of one without purchases (DEC-2).
  var asOf: Int64? = nil
  var evidenceClass = EvidenceClass.signed
}

extension PurchaseEvidence {
  /// What a verified JWS contributes to a decision; kinds that say nothing about
  /// a purchase are refused (DCD-1).
  init(_ payload: SignedPayload) throws(Refusal) {
    kind = payload.kind.name
    purchases = []
    renewals = []
    switch payload.kind {
    case .transaction: purchases = [try payload.purchaseFacts()]
    case .renewal: renewals = [try payload.renewalFacts()]
    case .notification:
      guard let parts = payload.notification else {
        throw Refusal(.internalAssayBug, "DOC-1", at: "notification")
      }
      try require(!parts.nestedIsOmitted, .misuseDecideUnverifiedNested, "NTF-8")
      if let transaction = parts.nested(.transaction) {
        purchases = [try transaction.purchaseFacts()]
      }
      if let renewal = parts.nested(.renewal) { renewals = [try renewal.renewalFacts()] }
    case .appTransaction, .realtimeRequest: throw Refusal(.misuseDecideEvidence, "DCD-1")
    }
  }
}
