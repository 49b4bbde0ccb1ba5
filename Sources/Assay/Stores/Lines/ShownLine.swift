/// A subscription as verified evidence reports it, with that evidence.
struct ShownLine: Sendable {
  let row: LineRow
  let evidence: StoreEvidence

  init(_ row: LineRow, _ evidence: StoreEvidence) {
    self.row = row
    self.evidence = evidence
  }
}
