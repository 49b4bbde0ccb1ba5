/// Selects the refusal to report when several candidates fail the same checks.
struct RefusalRanking {
  /// The statuses of each check, in the order of the checks. Faults of form come before all.
  private static let steps: [[Status]] = [
    [.rejectedChainNotCa], [.rejectedChainKeyUsage], [.rejectedChainIntermediateMarker],
    [.rejectedChainKey, .rejectedChainUntrustedRoot], [.rejectedChainSignatureLeaf],
    [.rejectedChainSignatureIntermediate],
  ]

  /// Whether to report the refusal of the candidate that passed most checks (PTH-3) instead of
  /// the first.
  private let isRanked: Bool
  private var reported: (refusal: Refusal, rank: Int)? = nil

  init(_ profile: ChainProfile) { isRanked = profile.hasReissuedIntermediates }

  /// Adds the refusal of one candidate. Of equal ranks the first is reported.
  ///
  /// - Parameter rank: Number of checks that the candidate passed; if `nil`, derived from the
  ///   status.
  mutating func add(_ refusal: Refusal, rank: Int? = nil) {
    let rank = rank ?? RefusalRanking.steps.firstIndex { $0.contains(refusal.status) } ?? -1
    if let reported, !isRanked || rank <= reported.rank { return }
    reported = (refusal, rank)
  }

  /// The refusal to report, once every candidate is refused.
  var refusal: Refusal { reported?.refusal ?? Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}
