/// What one evidence has of a proven chain.
struct ProvenPath: Sendable {
  let chain: ProvenChain
  /// Those that this evidence could have led to: the answer never depends on what was
  /// verified before.
  let intermediates: [ProvenIntermediate]
  let isCached: Bool

  init(_ chain: ProvenChain, _ intermediates: [ProvenIntermediate], isCached: Bool) {
    self.chain = chain
    self.intermediates = intermediates
    self.isCached = isCached
  }

  /// - Throws: `rejected.chain.not-yet-valid`, `.expired`.
  func judged(atSeconds seconds: Int64) throws(Refusal) -> JudgedPath {
    if chain.profile == .xcode {
      try chain.leaf.checkValidity(seconds, "PTH-11", at: "leaf")
      return JudgedPath(chain: chain, intermediate: nil, isCached: isCached)
    }
    let intermediate = try chain.judged(intermediates, atSeconds: seconds)
    return JudgedPath(chain: chain, intermediate: intermediate, isCached: isCached)
  }
}
