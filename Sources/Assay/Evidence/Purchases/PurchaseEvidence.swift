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
