/// A test certificate authority with the shape of Apple's: a P-384 root, a P-384 intermediate
/// below it and a P-256 leaf that signs purchases. Keys are generated at run time. Only a
/// configuration with the root in `storekit.anchors` trusts evidence of this authority.
public struct Authority: Sendable {
  public let rootKey: SigningKey
  public let intermediateKey: SigningKey
  public let leafKey: SigningKey
  /// The key of one installation of Xcode.
  public let xcodeKey: SigningKey
  public let root: CertificateTemplate
  public let intermediate: CertificateTemplate
  public let leaf: CertificateTemplate
  public let xcode: CertificateTemplate
  /// The chain as genuine evidence carries it.
  public let chain: CertificateChain
  /// DER of the self-signed certificate of StoreKit testing in Xcode.
  public let xcodeCertificate: [UInt8]
  /// The first and last second of each certificate's validity, since 1970.
  public let windows: Windows

  public struct Windows: Sendable {
    public var root: ClosedRange<Int64>
    public var intermediate: ClosedRange<Int64>
    public var leaf: ClosedRange<Int64>

    /// Creates windows about as wide as Apple's that contain `now` (ms since 1970).
    public init(around now: Int64) {
      let second = now / 1000
      let day: Int64 = 86_400
      root = (second - 12 * 365 * day)...(second + 13 * 365 * day)
      intermediate = (second - 5 * 365 * day)...(second + 10 * 365 * day)
      leaf = (second - 430 * day)...(second + 330 * day)
    }
  }

  /// The keys of an authority, so that several runs can share a root.
  public struct Keys: Sendable {
    public var root: SigningKey
    public var intermediate: SigningKey
    public var leaf: SigningKey
    public var xcode: SigningKey

    public init(
      root: SigningKey, intermediate: SigningKey, leaf: SigningKey, xcode: SigningKey
    ) {
      self.root = root
      self.intermediate = intermediate
      self.leaf = leaf
      self.xcode = xcode
    }

    public static func generate() throws -> Keys {
      Keys(
        root: try .generate(.p384), intermediate: try .generate(.p384),
        leaf: try .generate(.p256), xcode: try .generate(.p256))
    }
  }

  /// DER certificates for the keys of an authority.
  public struct Certificates: Sendable {
    public var root: [UInt8]
    public var intermediate: [UInt8]
    public var leaf: [UInt8]
    public var xcode: [UInt8]

    public init(root: [UInt8], intermediate: [UInt8], leaf: [UInt8], xcode: [UInt8]) {
      self.root = root
      self.intermediate = intermediate
      self.leaf = leaf
      self.xcode = xcode
    }
  }

  /// Creates an authority whose certificates are valid around `now` (ms since 1970).
  ///
  /// - Parameters:
  ///   - names: the names of the certificates; Apple's for forgeries.
  ///   - certificates: the certificates of an earlier run with the same keys; without them new
  ///     ones are signed.
  public init(
    now: Int64, keys: Keys? = nil, names: ChainNames = .own, windows: Windows? = nil,
    certificates: Certificates? = nil
  ) throws {
    let keys = try keys ?? .generate()
    let windows = windows ?? Windows(around: now)
    self.windows = windows
    rootKey = keys.root
    intermediateKey = keys.intermediate
    leafKey = keys.leaf
    xcodeKey = keys.xcode

    let rootPoint = try keys.root.publicKey()
    let intermediatePoint = try keys.intermediate.publicKey()
    let leafPoint = try keys.leaf.publicKey()
    let rootName = DistinguishedName.make(names.root)
    let intermediateName = DistinguishedName.make(names.intermediate)
    let rootIdentifier = CertificateExtension.keyIdentifier(rootPoint)
    let intermediateIdentifier = CertificateExtension.keyIdentifier(intermediatePoint)

    root = CertificateTemplate(
      serial: try Authority.serial(8), issuer: rootName, subject: rootName,
      notBefore: .standard(windows.root.lowerBound), notAfter: .standard(windows.root.upperBound),
      publicKeyInfo: KeyEncoding.named(OID.p384, rootPoint),
      extensions: [
        .subjectKeyIdentifier(rootIdentifier),
        .basicConstraints(ca: true),
        .keyUsage([.keyCertSign, .cRLSign]),
      ])
    intermediate = CertificateTemplate(
      serial: try Authority.serial(20, of: certificates?.intermediate), issuer: rootName,
      subject: intermediateName,
      notBefore: .standard(windows.intermediate.lowerBound),
      notAfter: .standard(windows.intermediate.upperBound),
      publicKeyInfo: KeyEncoding.named(OID.p384, intermediatePoint),
      extensions: [
        .basicConstraints(ca: true, pathLength: 0),
        .authorityKeyIdentifier(rootIdentifier),
        .authorityInformationAccess(ocsp: "http://ocsp.apple.com/ocsp03-assaytestroot"),
        .crlDistributionPoint("http://crl.apple.com/assaytestroot.crl"),
        .subjectKeyIdentifier(intermediateIdentifier),
        .keyUsage([.keyCertSign, .cRLSign]),
        .marker(OID.intermediateMarker),
      ])
    leaf = CertificateTemplate(
      serial: try Authority.serial(16, of: certificates?.leaf), issuer: intermediateName,
      subject: DistinguishedName.make(names.leaf),
      notBefore: .standard(windows.leaf.lowerBound), notAfter: .standard(windows.leaf.upperBound),
      publicKeyInfo: KeyEncoding.named(OID.p256, leafPoint),
      extensions: [
        .basicConstraints(ca: false),
        .authorityKeyIdentifier(intermediateIdentifier),
        .authorityInformationAccess(
          issuers: "http://certs.apple.com/assaytest6.der",
          ocsp: "http://ocsp.apple.com/ocsp03-assaytest602"),
        .certificatePolicies(
          "1.2.840.113635.100.5.6.1", notice: Authority.notice,
          statement: "https://test-authority.example/certificates/practice/"),
        .subjectKeyIdentifier(CertificateExtension.keyIdentifier(leafPoint)),
        .keyUsage(.digitalSignature),
        .marker(OID.leafMarker),
      ])
    xcode = try Authority.xcodeTemplate(keys.xcode, window: windows.leaf)
    chain = CertificateChain(
      leaf: try certificates?.leaf ?? leaf.signed(by: keys.intermediate),
      intermediate: try certificates?.intermediate ?? intermediate.signed(by: keys.root),
      root: try certificates?.root ?? root.signed(by: keys.root), key: keys.leaf)
    xcodeCertificate = try certificates?.xcode ?? xcode.signed(by: keys.xcode)
  }

  /// The root in the form of `storekit.anchors`: base64 DER.
  public var anchor: String { chain.root.base64Text }

  /// The SHA-256 of the Xcode certificate in the form of `storekit.xcodeCertificates`.
  public var xcodeFingerprint: String { Authority.fingerprint(xcodeCertificate) }

  /// Returns a chain in which one certificate is different. Each changed template is signed with
  /// the key above it, or with the given signer.
  public func chain(
    intermediate changeIntermediate: (inout CertificateTemplate) throws -> Void = { _ in },
    leaf changeLeaf: (inout CertificateTemplate) throws -> Void = { _ in },
    intermediateKey otherIntermediateKey: SigningKey? = nil,
    leafKey otherLeafKey: SigningKey? = nil,
    intermediateSigner: SigningKey? = nil, leafSigner: SigningKey? = nil
  ) throws -> CertificateChain {
    var link = CertificateLink(
      intermediate: intermediate, intermediateKey: intermediateKey, leaf: leaf, leafKey: leafKey)
    try link.take(intermediateKey: otherIntermediateKey, leafKey: otherLeafKey)
    try changeIntermediate(&link.intermediate)
    try changeLeaf(&link.leaf)
    return try link.chain(
      under: chain.root, by: intermediateSigner ?? rootKey, leafSigner: leafSigner)
  }

  /// Returns the certificate with which StoreKit testing in Xcode signs: self-signed, serial
  /// number 1, a CA.
  package static func xcodeTemplate(
    _ key: SigningKey, window: ClosedRange<Int64>
  ) throws -> CertificateTemplate {
    let name = DistinguishedName.make([
      ("CN", "StoreKit Testing in Xcode"), ("O", "StoreKit Testing in Xcode"),
    ])
    var template = CertificateTemplate(
      serial: [1], issuer: name, subject: name, notBefore: .standard(window.lowerBound),
      notAfter: .standard(window.upperBound),
      publicKeyInfo: try key.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: true, pathLength: 0), .keyUsage(.digitalSignature),
      ])
    template.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    template.digest = .sha256
    return template
  }

  /// Returns the SHA-256 of `bytes` in lower-case hex.
  public static func fingerprint(_ bytes: [UInt8]) -> String {
    AttestDigest.hex(AttestDigest.sha256(bytes))
  }

  /// Returns the serial number of `certificate`; without a certificate, a new one of `count`
  /// bytes.
  private static func serial(_ count: Int, of certificate: [UInt8]?) throws -> [UInt8] {
    guard let certificate else { return try serial(count) }
    return Array(try CertificateTemplate.fields(of: certificate).serial.dropFirst(2))
  }

  /// Returns a random positive serial number of `count` bytes.
  static func serial(_ count: Int) throws -> [UInt8] {
    var octets = (0..<count).map { _ in UInt8.random(in: 0...255) }
    octets[0] = 0x20 | (octets[0] & 0x3f)
    return octets
  }

  private static let notice =
    "This certificate was made by a test authority for trying out software. Nobody "
    + "vouches for what it signs; whoever relies on it outside a test does so without any "
    + "ground, and alone bears the damage."
}

/// Two certificates below a root before signing, with their keys.
struct CertificateLink: Sendable {
  var intermediate: CertificateTemplate
  var intermediateKey: SigningKey
  var leaf: CertificateTemplate
  var leafKey: SigningKey

  /// Replaces the keys that are not `nil`.
  mutating func take(intermediateKey: SigningKey?, leafKey: SigningKey?) throws {
    if let intermediateKey {
      intermediate.publicKeyInfo = try intermediateKey.publicKeyInfo()
      self.intermediateKey = intermediateKey
    }
    if let leafKey {
      leaf.publicKeyInfo = try leafKey.publicKeyInfo()
      self.leafKey = leafKey
    }
  }

  /// The signed chain; the leaf is signed by the intermediate's key, or by `leafSigner`.
  func chain(
    under root: [UInt8], by signer: SigningKey, leafSigner: SigningKey? = nil
  ) throws -> CertificateChain {
    CertificateChain(
      leaf: try leaf.signed(by: leafSigner ?? intermediateKey),
      intermediate: try intermediate.signed(by: signer), root: root, key: leafKey)
  }
}

/// A chain of three certificates, and the key of its leaf.
public struct CertificateChain: Sendable {
  public var leaf: [UInt8]
  public var intermediate: [UInt8]
  public var root: [UInt8]
  public var key: SigningKey

  /// The certificates with the leaf first, the order of `x5c`.
  public var certificates: [[UInt8]] { [leaf, intermediate, root] }
}
