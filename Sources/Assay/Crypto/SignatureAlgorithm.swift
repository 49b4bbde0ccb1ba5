/// The algorithm of a certificate's signature: ECDSA without parameters, or RSA with NULL.
struct SignatureAlgorithm: Sendable, Equatable {
  enum Scheme: Sendable, Equatable { case ecdsa, rsa }

  let scheme: Scheme
  let digest: Digest

  static func ecdsa(_ digest: Digest) -> SignatureAlgorithm {
    SignatureAlgorithm(scheme: .ecdsa, digest: digest)
  }

  static func rsa(_ digest: Digest) -> SignatureAlgorithm {
    SignatureAlgorithm(scheme: .rsa, digest: digest)
  }

  /// AlgorithmIdentifiers in DER, with their algorithms.
  static let names: [(name: [UInt8], algorithm: SignatureAlgorithm)] = [
    (ObjectIdentifier.ecdsaSHA384, .ecdsa(.sha384)),
    (ObjectIdentifier.ecdsaSHA256, .ecdsa(.sha256)),
    (ObjectIdentifier.ecdsaSHA512, .ecdsa(.sha512)),
    (ObjectIdentifier.rsaWithSHA256, .rsa(.sha256)),
    (ObjectIdentifier.rsaWithSHA1, .rsa(.sha1)),
    (ObjectIdentifier.rsaWithSHA384, .rsa(.sha384)),
    (ObjectIdentifier.rsaWithSHA512, .rsa(.sha512)),
  ]

  /// Whether only a root may be signed with this algorithm (CER-11). Apple Root CA - G2 has RSA
  /// with SHA-384; no certificate below a root has any of them.
  var isOfRootsAlone: Bool {
    switch scheme {
    case .ecdsa: return digest == .sha512
    case .rsa: return digest == .sha384 || digest == .sha512
    }
  }

  /// Whether a key of this type makes such signatures.
  func fits(_ key: KeyType) -> Bool {
    switch key {
    case .elliptic: return scheme == .ecdsa
    case .rsa: return scheme == .rsa
    }
  }
}
