/// A pinned root. Trust comes from its bytes, never from its name (CER-1).
struct Anchor: Sendable {
  let certificate: Certificate
  let key: PublicKey

  /// CFG-3: one clean certificate of version 3, a certificate authority that
  /// signed itself with a key on P-256 or P-384; nil for everything else.
  init?(_ der: [UInt8]) {
    guard let certificate = Certificate(der), certificate.version == 3,
      certificate.basicConstraints?.isAuthority == true,
      certificate.bytes(certificate.issuer) == certificate.bytes(certificate.subject),
      let key = certificate.publicKey(), certificate.isSigned(by: key)
    else { return nil }
    self.certificate = certificate
    self.key = key
  }
}

/// The roots of one kind of evidence. Configured ones replace Apple's as a whole
/// (CER-2).
struct AnchorSet: Sendable {
  let anchors: [Anchor]
  /// Whether these are Apple's own, compiled in.
  let areBuiltIn: Bool

  static let cap = 16

  /// Apple's root of StoreKit JWS; nil: the compiled-in table is damaged (CER-6).
  static func appleStoreKit() -> AnchorSet? {
    guard let root = Anchor(AppleRoots.rootCAG3) else { return nil }
    return AnchorSet(anchors: [root], areBuiltIn: true)
  }

  /// The anchor whose bytes these are (JWS-20).
  func anchor(withBytes der: [UInt8]) -> Anchor? {
    anchors.first { $0.certificate.der == der }
  }
}
