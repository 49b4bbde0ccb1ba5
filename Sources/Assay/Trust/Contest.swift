/// Several candidates under the same checks: which of their refusals is reported.
struct Contest {
  /// What refuses a candidate, in the order in which it is asked. Before all of these comes
  /// the form.
  private static let steps: [[Status]] = [
    [.rejectedChainNotCa], [.rejectedChainKeyUsage], [.rejectedChainIntermediateMarker],
    [.rejectedChainKey, .rejectedChainUntrustedRoot], [.rejectedChainSignatureLeaf],
    [.rejectedChainSignatureIntermediate],
  ]

  /// Whether the one that came furthest speaks for all (PTH-3); otherwise the first.
  private let isRanked: Bool
  private var told: (refusal: Refusal, rank: Int)? = nil

  init(_ profile: ChainProfile) { isRanked = profile.sharesKeys }

  /// - Parameter rank: how far the candidate came, where its status does not tell. Of equal
  ///   ranks the first is told.
  mutating func lose(_ refusal: Refusal, rank: Int? = nil) {
    let rank = rank ?? Contest.steps.firstIndex { $0.contains(refusal.status) } ?? -1
    if let told, !isRanked || rank <= told.rank { return }
    told = (refusal, rank)
  }

  /// When all have lost, and there was at least one.
  var refusal: Refusal { told?.refusal ?? Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}
