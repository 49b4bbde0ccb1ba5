/// The certificates of a JWS header, base64-decoded (JWS-13, JWS-14), with the anchor whose bytes
/// equal the root's (JWS-20). No certificate has been parsed yet.
struct HeaderChain: Sendable {
  let leaf: [UInt8]
  let intermediate: [UInt8]
  let root: ProfiledPath.Root
  /// The cache key of the certificates, so that a chain proven before is found again under
  /// another header (JWS-61).
  let fingerprint: [UInt8]

  /// Leaf, intermediate and root (JWS-13).
  private static let length = 3
  /// The longest base64 text of one certificate (JWS-14).
  private static let entryCap = 8192

  /// - Parameter rootIsSought: whether `storekit.x5cRoot` is "ignored", so that the anchor is
  ///   found by names and signatures.
  init(_ entries: [Text], _ anchors: AnchorSet, rootIsSought: Bool) throws(Refusal) {
    try require(
      entries.count == HeaderChain.length, .rejectedChainLength, "JWS-13", at: "x5c",
      detail: String(entries.count) + " certificates")
    leaf = try HeaderChain.decode(entries[0], at: "x5c[0]")
    intermediate = try HeaderChain.decode(entries[1], at: "x5c[1]")
    var der: [UInt8] = []
    if rootIsSought {
      root = .searched
    } else {
      der = try HeaderChain.decode(entries[2], at: "x5c[2]")
      guard let anchor = try anchors.anchors().first(where: { $0.certificate.der == der }) else {
        throw Refusal(
          .rejectedChainUntrustedRoot, "JWS-20", at: "x5c[2]", hint: .testAuthority(der))
      }
      root = .pinned(anchor)
    }
    fingerprint = Fingerprint.of([leaf, intermediate, der])
  }

  static func decode(_ entry: Text, at place: String) throws(Refusal) -> [UInt8] {
    try require(entry.utf8.count <= entryCap, .tooLargeChainCertificate, "JWS-14", at: place)
    guard let der = Base64.decodeStandard(entry.utf8[...]) else {
      throw Refusal(.malformedChainBase64, "JWS-14", at: place)
    }
    return der
  }
}
