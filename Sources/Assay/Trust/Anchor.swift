/// A pinned root. Trust comes from its bytes, never from its name (CER-1).
struct Anchor: Sendable {
  /// What keys the roots of a kind of evidence have.
  enum Keys: Sendable {
    /// On P-256 or P-384: StoreKit, App Attest and its receipts.
    case elliptic
    /// RSA of 2,048 to 4,096 bits, as Apple Root CA has: receipts.
    case rsa

    fileprivate func include(_ type: KeyType) -> Bool {
      switch type {
      case .elliptic: return self == .elliptic
      case .rsa(let bits): return self == .rsa && bits >= 2048
      }
    }
  }

  let certificate: Certificate
  let key: PublicKey

  /// CFG-3: one clean certificate of version 3, a certificate authority that
  /// signed itself with such a key and any digest of a root (CER-11); nil for
  /// everything else.
  init?(_ der: [UInt8], _ keys: Keys) {
    guard let certificate = Certificate(der), certificate.version == 3,
      certificate.basicConstraints?.isAuthority == true,
      certificate.bytes(certificate.issuer) == certificate.bytes(certificate.subject),
      let key = certificate.publicKey(), keys.include(key.type), certificate.hasSignedItself(key)
    else { return nil }
    self.certificate = certificate
    self.key = key
  }

  /// CER-10: the roots that a certificate names, and of these only the likely ones, if
  /// there are any.
  static func likely(_ anchors: [Anchor], of issued: Certificate) -> [Anchor] {
    let issuer = issued.bytes(issued.issuer)
    let named = anchors.filter { $0.certificate.bytes($0.certificate.subject) == issuer }
    let likely = named.filter { $0.certificate.mayHaveIssued(issued) }
    return likely.isEmpty ? named : likely
  }
}

/// The roots of one kind of evidence. Configured ones replace Apple's as a whole
/// (CER-2).
struct AnchorSet: Sendable {
  let anchors: [Anchor]
  /// Whether these are Apple's own, compiled in.
  let areBuiltIn: Bool

  static let cap = 16

  /// Apple Root CA - G3, of StoreKit JWS and of App Attest receipts, read once in a
  /// process; nil: the compiled-in table is damaged (CER-6).
  static let appleG3: AnchorSet? = Anchor(AppleRoots.rootCAG3, .elliptic).map {
    AnchorSet(anchors: [$0], areBuiltIn: true)
  }

  /// The anchor whose bytes these are (JWS-20).
  func anchor(withBytes der: [UInt8]) -> Anchor? {
    anchors.first { $0.certificate.der == der }
  }
}
