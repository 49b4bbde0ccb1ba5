/// A test authority with the shape of Apple's for App Attest: a P-384 root and a P-384
/// intermediate above the certificates of attested keys; a P-384 root, a P-256 intermediate and a
/// P-256 leaf that sign App Attest receipts. Only a configuration with the roots in
/// `attest.anchors` and `attest.receiptAnchors` trusts evidence of this authority.
public struct AttestAuthority: Sendable {
  public let keys: Keys
  public let root: CertificateTemplate
  public let intermediate: CertificateTemplate
  /// The root of attestations in DER.
  public let rootCertificate: [UInt8]
  public let intermediateCertificate: [UInt8]
  /// The certificates of the receipt signers before signing.
  package let receiptSigners: ReceiptSigners
  /// Leaf, intermediate and root of receipts.
  public let receiptChain: CertificateChain

  package struct ReceiptSigners: Sendable {
    package var root: CertificateTemplate
    var intermediate: CertificateTemplate
    var leaf: CertificateTemplate
  }

  /// The keys of an App Attest authority, so that several runs can share a root.
  public struct Keys: Sendable {
    public var root: SigningKey
    public var intermediate: SigningKey
    public var receiptRoot: SigningKey
    public var receiptIntermediate: SigningKey
    public var receiptLeaf: SigningKey

    /// Asks for each key by the name of its file.
    public init(_ key: (_ name: String) throws -> SigningKey) rethrows {
      root = try key("attest-root")
      intermediate = try key("attest-intermediate")
      receiptRoot = try key("attest-receipt-root")
      receiptIntermediate = try key("attest-receipt-intermediate")
      receiptLeaf = try key("attest-receipt-leaf")
    }

    /// Generates a key of the curve that the name needs.
    public static func generate(_ name: String) throws -> SigningKey {
      let small = ["attest-receipt-intermediate", "attest-receipt-leaf"]
      return try .generate(small.contains(name) ? .p256 : .p384)
    }

    public static func generate() throws -> Keys { try Keys { try generate($0) } }
  }

  /// The roots of an earlier run with the same keys.
  public struct Roots: Sendable {
    public var attestation: [UInt8]
    public var receipt: [UInt8]

    public init(attestation: [UInt8], receipt: [UInt8]) {
      self.attestation = attestation
      self.receipt = receipt
    }
  }

  /// Creates an authority whose certificates are valid around `now` (ms since 1970).
  public init(
    now: Int64, keys: Keys? = nil, names: AttestNames = .own, roots: Roots? = nil
  ) throws {
    let keys = try keys ?? .generate()
    self.keys = keys
    let windows = AttestCertificates.Windows(around: now)
    root = try AttestCertificates.root(names.root, keys.root, windows.root)
    intermediate = try AttestCertificates.intermediate(names, keys, windows.intermediate)
    receiptSigners = ReceiptSigners(
      root: try AttestCertificates.root(names.receiptRoot, keys.receiptRoot, windows.root),
      intermediate: try AttestCertificates.receiptIntermediate(names, keys, windows.intermediate),
      leaf: try AttestCertificates.receiptLeaf(names, keys, windows.receiptLeaf))
    rootCertificate = try roots?.attestation ?? root.signed(by: keys.root)
    intermediateCertificate = try intermediate.signed(by: keys.root)
    receiptChain = CertificateChain(
      leaf: try receiptSigners.leaf.signed(by: keys.receiptIntermediate),
      intermediate: try receiptSigners.intermediate.signed(by: keys.receiptRoot),
      root: try roots?.receipt ?? receiptSigners.root.signed(by: keys.receiptRoot),
      key: keys.receiptLeaf)
  }

  /// Returns a chain of receipt signers in which one certificate is different. Each changed
  /// template is signed with the key above it, or with the given signer.
  public func receiptChain(
    intermediate changeIntermediate: (inout CertificateTemplate) throws -> Void = { _ in },
    leaf changeLeaf: (inout CertificateTemplate) throws -> Void = { _ in },
    intermediateKey: SigningKey? = nil, leafKey: SigningKey? = nil,
    intermediateSigner: SigningKey? = nil, leafSigner: SigningKey? = nil
  ) throws -> CertificateChain {
    var link = CertificateLink(
      intermediate: receiptSigners.intermediate, intermediateKey: keys.receiptIntermediate,
      leaf: receiptSigners.leaf, leafKey: keys.receiptLeaf)
    try link.take(intermediateKey: intermediateKey, leafKey: leafKey)
    try changeIntermediate(&link.intermediate)
    try changeLeaf(&link.leaf)
    return try link.chain(
      under: receiptChain.root, by: intermediateSigner ?? keys.receiptRoot,
      leafSigner: leafSigner)
  }

  /// Returns the block `attest` of a configuration that accepts evidence of this authority for
  /// these apps.
  public func configuration(appIds: [String]) -> JSONText {
    [
      "appIds": .array(appIds.map { .string($0) }),
      "anchors": [.string(rootCertificate.base64Text)],
      "receiptAnchors": [.string(receiptChain.root.base64Text)],
    ]
  }
}

/// The names in the certificates of an App Attest authority. Verification never trusts a name, so
/// that a forgery may have Apple's.
public struct AttestNames: Sendable {
  public typealias Name = [(type: String, value: String)]
  public var root: Name
  public var intermediate: Name
  public var receiptRoot: Name
  public var receiptIntermediate: Name
  public var receiptLeaf: Name

  private init(
    _ attestation: String, _ root: String, _ integration: String, _ signing: String,
    _ authority: String, _ organisation: String
  ) {
    func california(_ name: String) -> Name {
      [("CN", name), ("O", organisation), ("2.5.4.8", "California")]
    }
    self.root = california("\(attestation) Root CA")
    intermediate = california("\(attestation) CA 1")
    receiptRoot = [("CN", root), ("OU", authority), ("O", organisation), ("C", "US")]
    receiptIntermediate = [
      ("CN", integration), ("OU", authority), ("O", organisation), ("C", "US"),
    ]
    receiptLeaf = [("CN", signing), ("O", organisation), ("C", "US")]
  }

  /// Names of this authority, about as long as Apple's.
  public static let own = AttestNames(
    "Assay Test Attestation", "Assay Test Root CA - G3", "Assay Test Integration CA 5 - G1",
    "Test Attestation Fraud Receipt Signing", "Assay Test Authority", "Assay")

  /// The names in Apple's certificates, for forgeries.
  public static let apple = AttestNames(
    "Apple App Attestation", "Apple Root CA - G3", "Apple Application Integration CA 5 - G1",
    "Application Attestation Fraud Receipt Signing", "Apple Certification Authority",
    "Apple Inc.")
}
