/// A leaf with every intermediate that is proven to have signed it: profiles, names and
/// signatures are verified up to a pinned root. The proof depends only on the certificates and
/// the anchors, so it never expires; dates are checked for each evidence (JWS-63, PTH-13).
final class ProvenChain: Sendable {
  let profile: ChainProfile
  let leaf: Certificate
  let leafKey: PublicKey
  /// At least one; none in the profile of Xcode.
  let intermediates: [ProvenIntermediate]
  /// The leaf's report in documents, as JSON.
  let leafReport: [UInt8]

  init(
    _ profile: ChainProfile, _ leaf: ProfiledCertificate, _ intermediates: [ProvenIntermediate]
  ) {
    self.profile = profile
    self.leaf = leaf.certificate
    leafKey = leaf.key
    self.intermediates = intermediates
    var writer = JSONWriter(capacity: 200)
    leaf.certificate.writeReport(&writer)
    leafReport = writer.bytes
  }

  /// Writes the members of `chain` in a document, without braces.
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

  /// Requires the leaf to be valid at a time in seconds since 1970 UTC, both ends of its validity
  /// included (JWS-43, PTH-11, FRC-5, ATT-40). Returns the first intermediate that is valid,
  /// together with its root, at the same time (PTH-3).
  ///
  /// - Parameters:
  ///   - usable: The intermediates to which this evidence leads.
  ///   - hints: The probable causes if the leaf, or its authority, is not valid.
  /// - Throws: `rejected.chain.not-yet-valid`, `.expired`.
  @discardableResult
  func validated(
    _ usable: [ProvenIntermediate], atSeconds seconds: Int64,
    hints: (leaf: Explanation?, authority: Explanation?) = (nil, nil)
  ) throws(Refusal) -> ProvenIntermediate {
    let (rule, locations) = (profile.rules.dates, profile.locations)
    try leaf.checkValidity(seconds, rule, at: locations.leaf, hint: hints.leaf)
    var refusals = RefusalRanking(profile)
    for intermediate in usable {
      var rank = 0
      do throws(Refusal) {
        try intermediate.certificate.checkValidity(
          seconds, rule, at: locations.intermediate, hint: hints.authority)
        rank = 1
        try intermediate.anchor.certificate.checkValidity(
          seconds, rule, at: locations.root, hint: hints.authority)
        return intermediate
      } catch {
        refusals.add(error, rank: rank)
      }
    }
    throw refusals.refusal
  }
}
