/// A test authority with the shape of Apple's older one, which signs receipts: RSA keys, a store
/// intermediate above version 2 transaction receipts, and developer relations intermediates above
/// all other receipts, two of which have the same name and key. Only a configuration with its
/// root in `receipts.anchors` trusts its receipts.
///
/// All dates are fixed and all serial numbers follow from the keys: the same keys give the same
/// certificates, byte for byte.
public struct ReceiptAuthority: Sendable {
  /// The signers by purpose and years.
  public enum Generation: String, Sendable, CaseIterable {
    /// Version 2 transaction receipts, 2009 … 2016, RSA-1024.
    case store
    /// App receipts, 2010 … 2015, under the intermediate of 2008 … 2016.
    case first
    /// App receipts and version 3 transaction receipts, 2015 … 2023, under the intermediate of
    /// 2013 … 2023, which has the name and key of the one of `first`.
    case second
    /// App receipts and version 3 transaction receipts since 2022, with certificates signed with
    /// SHA-256.
    case current
    /// A developer's certificate under the intermediate of `current`, which must not sign
    /// receipts.
    case developer
  }

  /// The keys of a receipt authority, so that several runs can share a root.
  public struct Keys: Sendable {
    public var root: SigningKey
    public var store: SigningKey
    public var relations: SigningKey
    public var currentRelations: SigningKey
    /// The key of the leaf of `store`, 1,024 bits.
    public var storeLeaf: SigningKey
    /// The key of the leaves of `first` and `second`.
    public var leaf: SigningKey
    public var currentLeaf: SigningKey
    public var developer: SigningKey
    public var xcode: SigningKey

    /// The names of the key files.
    public static let names = [
      "receipt-root", "receipt-store", "receipt-relations", "receipt-current-relations",
      "receipt-store-leaf", "receipt-leaf", "receipt-current-leaf", "receipt-developer",
      "receipt-xcode",
    ]

    /// Asks for each key by its name.
    public init(_ key: (_ name: String) throws -> SigningKey) rethrows {
      root = try key("receipt-root")
      store = try key("receipt-store")
      relations = try key("receipt-relations")
      currentRelations = try key("receipt-current-relations")
      storeLeaf = try key("receipt-store-leaf")
      leaf = try key("receipt-leaf")
      currentLeaf = try key("receipt-current-leaf")
      developer = try key("receipt-developer")
      xcode = try key("receipt-xcode")
    }

    /// Generates a key of the size that the name needs.
    public static func generate(_ name: String) throws -> SigningKey {
      try .generate(.rsa(bits: name == "receipt-store-leaf" ? 1024 : 2048))
    }

    /// Generates all keys, which takes about a second on one core.
    public static func generate() throws -> Keys { try Keys { try generate($0) } }
  }

  public let keys: Keys
  /// The self-signed root.
  public let root: CertificateTemplate
  private let links: [Generation: CertificateLink]
  private let chains: [Generation: CertificateChain]
  public let xcode: CertificateTemplate
  /// The self-signed certificate in DER with which Xcode signs app receipts.
  public let xcodeCertificate: [UInt8]

  public init(keys: Keys? = nil, names: ReceiptNames = .own) throws {
    let keys = try keys ?? .generate()
    self.keys = keys
    let root = try ReceiptCertificates.root(keys, names)
    self.root = root
    let rootDER = try root.signed(by: keys.root)
    var links: [Generation: CertificateLink] = [:]
    var chains: [Generation: CertificateChain] = [:]
    for generation in Generation.allCases {
      let link = try ReceiptCertificates.link(generation, keys, names)
      links[generation] = link
      chains[generation] = try link.chain(under: rootDER, by: keys.root)
    }
    self.links = links
    self.chains = chains
    xcode = try ReceiptCertificates.xcode(keys)
    xcodeCertificate = try xcode.signed(by: keys.xcode)
  }

  /// Returns the chain of a generation.
  public func chain(_ generation: Generation) throws -> CertificateChain {
    guard let chain = chains[generation] else { throw AuthorityError("no \(generation)") }
    return chain
  }

  func link(_ generation: Generation) throws -> CertificateLink {
    guard let link = links[generation] else { throw AuthorityError("no \(generation)") }
    return link
  }

  /// Returns a chain in which one certificate is different. Each changed template is signed with
  /// the key above it, or with the given signer.
  public func chain(
    _ generation: Generation,
    intermediate changeIntermediate: (inout CertificateTemplate) throws -> Void = { _ in },
    leaf changeLeaf: (inout CertificateTemplate) throws -> Void = { _ in },
    intermediateKey: SigningKey? = nil, leafKey: SigningKey? = nil,
    intermediateSigner: SigningKey? = nil, leafSigner: SigningKey? = nil
  ) throws -> CertificateChain {
    var link = try link(generation)
    try link.take(intermediateKey: intermediateKey, leafKey: leafKey)
    try changeIntermediate(&link.intermediate)
    try changeLeaf(&link.leaf)
    return try link.chain(
      under: try chain(generation).root, by: intermediateSigner ?? keys.root,
      leafSigner: leafSigner)
  }

  /// The root in the form of `receipts.anchors`: base64 DER.
  public var anchor: String { (chains[.current]?.root ?? []).base64Text }

  /// The four intermediates in the form of `receipts.intermediates`, base64 DER. Transaction
  /// receipts do not contain theirs.
  public var intermediates: [String] {
    [Generation.store, .first, .second, .current].compactMap { chains[$0]?.intermediate }
      .map(\.base64Text)
  }

  /// The SHA-256 of the Xcode certificate in the form of `storekit.xcodeCertificates`.
  public var xcodeFingerprint: String { Authority.fingerprint(xcodeCertificate) }

  /// The block `receipts` of a configuration that accepts receipts of this authority.
  public var configuration: JSONText {
    [
      "anchors": [.string(anchor)],
      "intermediates": .array(intermediates.map { .string($0) }),
    ]
  }
}
