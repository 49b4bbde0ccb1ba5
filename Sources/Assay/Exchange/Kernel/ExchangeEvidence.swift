/// The documents that a conversation is about (EXC-2).
enum ExchangeEvidence {
  /// What they prove, in their order; each item of a finished conversation as if it were
  /// a document (EXC-12).
  ///
  /// - Throws: `misuse.exchange.evidence` for a document that was refused, was
  ///   made under another configuration, or is of a kind that is not taken; for
  ///   too many of them, or too few.
  static func read(
    _ documents: [Document], configuration: [UInt8], counts: ClosedRange<Int>,
    takes: (VerifiedEvidence) -> Bool
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
        items.allSatisfy(takes), .misuseExchangeEvidence, "EXC-2",
        at: "evidence[" + String(index) + "]")
      proven += items
    }
    try require(counts.contains(proven.count), .misuseExchangeEvidence, "EXC-2", at: "evidence")
    return proven
  }
}
