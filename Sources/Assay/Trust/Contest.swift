/// Several candidates under the same checks: which of their refusals is reported.
struct Contest {
  /// How far a candidate came, by what refused it.
  enum Rank: Int, Sendable {
    case form, authority, usage, mark, key, leafSignature, intermediateSignature
    /// The intermediate was valid, its root was not.
    case rootDate

    fileprivate init(_ status: Status) {
      switch status {
      case .rejectedChainNotCa: self = .authority
      case .rejectedChainKeyUsage: self = .usage
      case .rejectedChainIntermediateMarker: self = .mark
      case .rejectedChainKey, .rejectedChainUntrustedRoot: self = .key
      case .rejectedChainSignatureLeaf: self = .leafSignature
      case .rejectedChainSignatureIntermediate: self = .intermediateSignature
      default: self = .form
      }
    }
  }

  /// Whether the one that came furthest speaks for all (PTH-3); otherwise the first.
  private let isRanked: Bool
  private var told: (refusal: Refusal, rank: Rank)? = nil

  init(_ profile: ChainProfile) { isRanked = profile.sharesKeys }

  mutating func lose(_ refusal: Refusal) { lose(refusal, Rank(refusal.status)) }

  /// Of equal ranks the first.
  mutating func lose(_ refusal: Refusal, _ rank: Rank) {
    if let told, !isRanked || rank.rawValue <= told.rank.rawValue { return }
    told = (refusal, rank)
  }

  /// When all have lost, and there was at least one.
  var refusal: Refusal { told?.refusal ?? Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}
