/// A line as verified evidence shows it, and the evidence.
struct ShownLine: Sendable {
  let row: LineRow
  let evidence: StoreEvidence

  init(_ row: LineRow, _ evidence: StoreEvidence) {
    self.row = row
    self.evidence = evidence
  }
}
