/// A pinned root, which is trusted for its bytes, never for its name (CER-1).
struct Anchor: Sendable {
  /// The type of key that the roots of a kind of evidence have.
  enum Keys: Sendable {
    /// P-256 or P-384: StoreKit, App Attest and its receipts.
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

  /// Creates an anchor from exactly one DER certificate of version 3: a certificate authority
  /// that signed itself with a key of type `keys` (CFG-3) and any digest allowed for roots
  /// (CER-11). `nil` for anything else.
  init?(_ der: [UInt8], _ keys: Keys) {
    guard let certificate = Certificate(der), certificate.version == 3,
      certificate.basicConstraints?.isAuthority == true,
      certificate.bytes(certificate.issuer) == certificate.bytes(certificate.subject),
      let key = certificate.publicKey(), keys.include(key.type), certificate.hasSignedItself(key)
    else { return nil }
    self.certificate = certificate
    self.key = key
  }

  /// Configured roots by their bytes, because decoding them for each verifier costs as much as
  /// verifying a chain (CER-11). The value depends on the certificate only; being cached makes no
  /// root trusted. No genuine root exceeds the limit of 4,096 bytes.
  private static let known = BytesCache<Anchor>(capacity: 64, byteCap: 4096)

  /// Reads a configured root, or finds it in the cache.
  ///
  /// - Parameter isRemembered: Whether to use the cache; false if `cache.chains` is 0.
  static func read(_ der: [UInt8], _ keys: Keys, isRemembered: Bool) -> Anchor? {
    guard isRemembered else { return Anchor(der, keys) }
    if let anchor = known.find(der[...]) { return keys.include(anchor.key.type) ? anchor : nil }
    let anchor = Anchor(der, keys)
    if let anchor { known.remember(der[...], anchor) }
    return anchor
  }

  /// Returns the anchors whose subject is the issuer of `issued`, without those that key
  /// identifier, serial number or validity rule out; if that leaves none, all of them (CER-10).
  static func likely(_ anchors: [Anchor], of issued: Certificate) -> [Anchor] {
    let issuer = issued.bytes(issued.issuer)
    let named = anchors.filter { $0.certificate.bytes($0.certificate.subject) == issuer }
    let likely = named.filter { $0.certificate.mayHaveIssued(issued) }
    return likely.isEmpty ? named : likely
  }
}
