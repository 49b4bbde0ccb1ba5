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

  /// Roots of configurations, found again by their bytes: to read them for each
  /// verifier anew costs as much as a chain (CER-11). A pure function of the
  /// certificate; it trusts nobody. No root has more octets than may enter.
  private static let known = BytesCache<Anchor>(capacity: 64, byteCap: 4096)

  /// - Parameter isRemembered: false under `cache.chains` 0: then nothing is looked
  ///   up and nothing kept.
  static func read(_ der: [UInt8], _ keys: Keys, isRemembered: Bool) -> Anchor? {
    guard isRemembered else { return Anchor(der, keys) }
    if let anchor = known.find(der[...]) { return keys.include(anchor.key.type) ? anchor : nil }
    let anchor = Anchor(der, keys)
    if let anchor { known.remember(der[...], anchor) }
    return anchor
  }

  /// CER-10: the roots that a certificate names, and of these the likely ones where
  /// there are such.
  static func likely(_ anchors: [Anchor], of issued: Certificate) -> [Anchor] {
    let issuer = issued.bytes(issued.issuer)
    let named = anchors.filter { $0.certificate.bytes($0.certificate.subject) == issuer }
    let likely = named.filter { $0.certificate.mayHaveIssued(issued) }
    return likely.isEmpty ? named : likely
  }
}
