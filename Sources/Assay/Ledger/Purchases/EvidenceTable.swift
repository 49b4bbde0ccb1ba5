/// Kept evidence (STM-2). The changes of purchases and subscriptions keep it.
protocol EvidenceTable: AnyObject {
  /// Returns the digest that a purchase names; `nil` if there is no row.
  func digest(ofPurchase key: Text) throws(LedgerSuspension) -> Text?

  /// Returns the digest that a subscription names; `nil` if there is no row.
  func digest(ofSubscription environment: Text, _ id: Text) throws(LedgerSuspension) -> Text?

  /// Returns the texts of these digests that are kept.
  func keptEvidence(_ digests: [Text]) throws(LedgerSuspension) -> [GetEvidence.Kept]
}
