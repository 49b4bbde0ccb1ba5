/// The purchases and renewal info that one verified document contributes to a decision.
struct PurchaseEvidence: Sendable {
  /// The document's kind, as in its member `kind` ("transaction", "notification").
  var kind: StaticString
  var purchases: [PurchaseFacts]
  var renewals: [RenewalFacts]
  /// The moment whose state the document reports, in milliseconds since 1970 UTC, for a document
  /// without purchases; `nil` if unknown (DEC-2).
  var asOfMs: Int64? = nil
  var evidenceClass = EvidenceClass.signed
}
