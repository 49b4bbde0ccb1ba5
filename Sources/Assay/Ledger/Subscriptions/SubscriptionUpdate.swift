/// A subscription as verified evidence reports it, with that evidence.
struct SubscriptionUpdate: Sendable {
  let row: SubscriptionRow
  let evidence: StoredEvidence

  init(_ row: SubscriptionRow, _ evidence: StoredEvidence) {
    self.row = row
    self.evidence = evidence
  }
}
