/// Reads the evidence documents that the host passes when an exchange begins (EXC-2).
enum ExchangeEvidence {
  /// Returns the verified evidence of `documents`, in their order. The result of a finished
  /// exchange may hold several items; each counts as a document (EXC-12).
  ///
  /// - Throws: `misuse.exchange.evidence` for a document that was refused, was made under another
  ///   configuration, or is of a class that the operation does not accept; for too many
  ///   documents, or too few.
  static func read(
    _ documents: [Document], configuration: [UInt8], of row: OperationRow
  ) throws(Refusal) -> [VerifiedEvidence] {
    var proven: [VerifiedEvidence] = []
    for (index, document) in documents.enumerated() {
      guard document.status == .ok, let evidence = document.evidence,
        evidence.isOfEveryVerifier || document.configuration == configuration
      else {
        throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[" + String(index) + "]")
      }
      let items = evidence.items
      try require(
        items.allSatisfy(row.classes.take), .misuseExchangeEvidence, "EXC-2",
        at: "evidence[" + String(index) + "]")
      proven += items
    }
    try require(
      row.evidence.contains(proven.count), .misuseExchangeEvidence, "EXC-2", at: "evidence")
    return proven
  }
}
