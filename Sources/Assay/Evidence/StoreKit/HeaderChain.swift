/// The chain of a JWS header, decoded, with its root found by its bytes (JWS-13, JWS-14,
/// JWS-20): before anything is parsed.
struct HeaderChain: Sendable {
  let leaf: [UInt8]
  let intermediate: [UInt8]
  let root: ShapedPath.Root
  /// Under which it is remembered: a chain that was proven before, spelt in another
  /// header, is found again (JWS-61).
  let fingerprint: [UInt8]

  /// JWS-13: leaf, intermediate, root.
  private static let length = 3
  /// JWS-14.
  private static let entryCap = 8192

  /// - Parameter rootIsSought: `storekit.rootEntry` "ignored": the root is found by names
  ///   and signatures.
  init(_ entries: [Text], _ anchors: AnchorSet, rootIsSought: Bool) throws(Refusal) {
    try require(
      entries.count == HeaderChain.length, .rejectedChainLength, "JWS-13", at: "x5c",
      detail: String(entries.count) + " certificates")
    leaf = try HeaderChain.decode(entries[0], at: "x5c[0]")
    intermediate = try HeaderChain.decode(entries[1], at: "x5c[1]")
    var der: [UInt8] = []
    if rootIsSought {
      root = .sought
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
