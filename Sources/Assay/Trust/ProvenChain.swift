/// A leaf with every intermediate that was proven to have signed it: form, names,
/// marks and signatures up to a pinned root. A pure function of the certificates and
/// the anchors, so it never grows old; dates are judged afresh for all evidence
/// (JWS-63, PTH-13).
final class ProvenChain: Sendable {
  let profile: ChainProfile
  let leaf: Certificate
  let leafKey: PublicKey
  /// One at least; none in the profile of Xcode.
  let intermediates: [ProvenIntermediate]
  /// What a document reports about the leaf.
  let leafReport: [UInt8]

  init(
    _ profile: ChainProfile, _ leaf: ShapedCertificate, _ intermediates: [ProvenIntermediate]
  ) {
    self.profile = profile
    self.leaf = leaf.certificate
    leafKey = leaf.key
    self.intermediates = intermediates
    var writer = JSONWriter(capacity: 200)
    leaf.certificate.writeReport(&writer)
    leafReport = writer.bytes
  }

  /// The members of `chain` in a document, without braces.
  func writeMembers(_ writer: inout JSONWriter, _ intermediate: ProvenIntermediate?) {
    writer.name("leaf")
    writer.raw(leafReport)
    if let intermediate {
      writer.raw(intermediate.report)
    } else {
      writer.name("intermediate")
      writer.null()
      writer.name("root")
      writer.null()
    }
  }

  /// JWS-43, PTH-11, FRC-5, ATT-40: the leaf is valid at that moment, in whole seconds and
  /// both ends included, and so are one of the intermediates and its root: the first
  /// one that is (PTH-3).
  ///
  /// - Parameter hints: what would explain that the leaf is not, and that its authority
  ///   is not.
  /// - Throws: `rejected.chain.not-yet-valid`, `.expired`.
  @discardableResult
  func judged(
    _ usable: [ProvenIntermediate], atSeconds seconds: Int64,
    hints: (leaf: Explanation?, authority: Explanation?) = (nil, nil)
  ) throws(Refusal) -> ProvenIntermediate {
    let (rule, places) = (profile.rules.dates, profile.places)
    try leaf.checkValidity(seconds, rule, at: places.leaf, hint: hints.leaf)
    var contest = Contest(profile)
    for intermediate in usable {
      var rank = 0
      do throws(Refusal) {
        try intermediate.certificate.checkValidity(
          seconds, rule, at: places.intermediate, hint: hints.authority)
        rank = 1
        try intermediate.anchor.certificate.checkValidity(
          seconds, rule, at: places.root, hint: hints.authority)
        return intermediate
      } catch {
        contest.lose(error, rank: rank)
      }
    }
    throw contest.refusal
  }
}
