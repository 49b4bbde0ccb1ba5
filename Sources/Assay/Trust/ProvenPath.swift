/// A proven chain, reduced to the intermediates to which one evidence leads.
struct ProvenPath: Sendable {
  let chain: ProvenChain
  /// The intermediates that this evidence contains or that are known without it: the result does
  /// not depend on what was verified before.
  let intermediates: [ProvenIntermediate]
  let isCached: Bool

  init(_ chain: ProvenChain, _ intermediates: [ProvenIntermediate], isCached: Bool) {
    self.chain = chain
    self.intermediates = intermediates
    self.isCached = isCached
  }

  /// Checks the dates of the path at a time in seconds since 1970 UTC.
  ///
  /// - Throws: `rejected.chain.not-yet-valid`, `.expired`.
  func validated(atSeconds seconds: Int64) throws(Refusal) -> ValidPath {
    if chain.profile == .xcode {
      try chain.leaf.checkValidity(seconds, "PTH-11", at: "leaf")
      return ValidPath(chain: chain, intermediate: nil, isCached: isCached)
    }
    let intermediate = try chain.validated(intermediates, atSeconds: seconds)
    return ValidPath(chain: chain, intermediate: intermediate, isCached: isCached)
  }
}
