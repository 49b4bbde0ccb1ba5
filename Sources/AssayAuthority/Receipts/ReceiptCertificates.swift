/// The names in the certificates of a receipt authority. Verification never trusts a name, so
/// that a forgery may have Apple's.
public struct ReceiptNames: Sendable {
  public typealias Name = [(type: String, value: String)]
  public var root: Name
  public var store: Name
  public var relations: Name
  public var currentRelations: Name
  public var storeLeaf: Name
  public var leaf: Name
  public var developer: Name

  private init(_ root: String, _ relations: String, _ store: String, _ organisation: String) {
    func name(_ common: String, _ unit: String) -> Name {
      [("CN", common), ("OU", unit), ("O", organisation), ("C", "US")]
    }
    // Apple's older certificates have the attributes in reverse order.
    func older(_ common: String, _ unit: String) -> Name { name(common, unit).reversed() }
    let authority = String(organisation.prefix { $0 != " " }) + " Certification Authority"
    self.root = older(root, authority)
    self.store = older("\(store) Certification Authority", authority)
    self.relations = older("\(relations) Certification Authority", relations)
    currentRelations = name("\(relations) Certification Authority", "G5")
    storeLeaf = name("PurchaseReceiptCertificate", store)
    leaf = name("Mac App Store and iTunes Store Receipt Signing", relations)
    developer = name("Distribution: Example Developer (ABCDE12345)", "ABCDE12345")
  }

  /// Names of this authority, about as long as Apple's.
  public static let own = ReceiptNames(
    "Assay Test Root CA", "Assay Test Developer Relations", "Assay Test Store", "Assay")

  /// The names in Apple's certificates, for forgeries.
  public static let apple = ReceiptNames(
    "Apple Root CA", "Apple Worldwide Developer Relations", "Apple iTunes Store", "Apple Inc.")
}

/// The certificate templates of a receipt authority, with Apple's shape and years.
enum ReceiptCertificates {
  /// The bounds of validity in seconds since 1970, as in docs/spec/certificates.md; certificates
  /// that must be valid today end later than Apple's.
  private enum Window {
    static let root = 1_146_001_236...2_370_000_000 as ClosedRange<Int64>
    static let store = 1_242_757_890...1_463_596_290 as ClosedRange<Int64>
    static let relations2008 = 1_203_015_395...1_455_476_195 as ClosedRange<Int64>
    static let relations2013 = 1_360_273_727...1_675_806_527 as ClosedRange<Int64>
    static let relationsCurrent = 1_608_147_536...2_360_000_000 as ClosedRange<Int64>
    static let storeLeaf = 1_245_103_556...1_463_596_290 as ClosedRange<Int64>
    static let first = 1_289_512_681...1_447_279_081 as ClosedRange<Int64>
    static let second = 1_447_380_909...1_675_806_527 as ClosedRange<Int64>
    static let current = 1_662_146_037...2_350_000_000 as ClosedRange<Int64>
    static let xcode = 1_585_763_555...2_216_483_555 as ClosedRange<Int64>
  }

  static func root(
    _ keys: ReceiptAuthority.Keys, _ names: ReceiptNames
  ) throws -> CertificateTemplate {
    let name = DistinguishedName.makePrintable(names.root)
    var template = try template(
      issuer: name, subject: name, window: Window.root, key: keys.root, signer: keys.root,
      extensions: [
        .keyUsage([.keyCertSign, .cRLSign]), .basicConstraints(ca: true),
      ])
    template.serial = [2]
    template.sign(.sha1)
    return template
  }

  static func link(
    _ generation: ReceiptAuthority.Generation, _ keys: ReceiptAuthority.Keys,
    _ names: ReceiptNames
  ) throws -> CertificateLink {
    switch generation {
    case .store:
      return try link(
        keys, names, (names.store, keys.store, OID.storeMarker, Window.store),
        (names.storeLeaf, keys.storeLeaf, OID.purchaseMarker, Window.storeLeaf), .sha1)
    case .first:
      return try link(
        keys, names,
        (names.relations, keys.relations, OID.intermediateMarker, Window.relations2008),
        (names.leaf, keys.leaf, OID.leafMarker, Window.first), .sha1)
    case .second:
      return try link(
        keys, names,
        (names.relations, keys.relations, OID.intermediateMarker, Window.relations2013),
        (names.leaf, keys.leaf, OID.leafMarker, Window.second), .sha1)
    case .current:
      return try link(
        keys, names,
        (
          names.currentRelations, keys.currentRelations, OID.intermediateMarker,
          Window.relationsCurrent
        ),
        (names.leaf, keys.currentLeaf, OID.leafMarker, Window.current), .sha256)
    case .developer:
      return try link(
        keys, names,
        (
          names.currentRelations, keys.currentRelations, OID.intermediateMarker,
          Window.relationsCurrent
        ),
        (names.developer, keys.developer, OID.developerMarker, Window.current), .sha256)
    }
  }

  private typealias Owner = (
    name: ReceiptNames.Name, key: SigningKey, marker: String, window: ClosedRange<Int64>
  )

  private static func link(
    _ keys: ReceiptAuthority.Keys, _ names: ReceiptNames, _ above: Owner, _ below: Owner,
    _ digest: SigningKey.Digest
  ) throws -> CertificateLink {
    let intermediateName = DistinguishedName.make(above.name)
    // The current generation has only the key usages of signing, as Apple's has.
    let usage: CertificateExtension.KeyUsage =
      digest == .sha256
      ? [.keyCertSign, .cRLSign] : [.digitalSignature, .keyCertSign, .cRLSign]
    var intermediate = try template(
      issuer: DistinguishedName.makePrintable(names.root), subject: intermediateName,
      window: above.window, key: above.key, signer: keys.root,
      extensions: [
        .keyUsage(usage),
        .basicConstraints(ca: true, pathLength: digest == .sha256 ? 0 : nil),
        .crlDistributionPoint("http://crl.apple.com/assaytest.crl"), .marker(above.marker),
      ])
    intermediate.sign(digest)
    var leaf = try template(
      issuer: intermediateName, subject: DistinguishedName.make(below.name),
      window: below.window, key: below.key, signer: above.key,
      extensions: [
        .basicConstraints(ca: false), .keyUsage(.digitalSignature), .marker(below.marker),
      ])
    leaf.sign(digest)
    return CertificateLink(
      intermediate: intermediate, intermediateKey: above.key, leaf: leaf, leafKey: below.key)
  }

  private static func template(
    issuer: [UInt8], subject: [UInt8], window: ClosedRange<Int64>, key: SigningKey,
    signer: SigningKey, extensions: [CertificateExtension]
  ) throws -> CertificateTemplate {
    let identifier = CertificateExtension.keyIdentifier(try key.publicKey())
    let above = CertificateExtension.keyIdentifier(try signer.publicKey())
    return CertificateTemplate(
      serial: serial(identifier, window), issuer: issuer, subject: subject,
      notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
      publicKeyInfo: try key.publicKeyInfo(),
      extensions: [.subjectKeyIdentifier(identifier), .authorityKeyIdentifier(above)]
        + extensions)
  }

  /// Returns a positive serial number of eight bytes that depends only on the key and the start
  /// date.
  private static func serial(_ identifier: [UInt8], _ window: ClosedRange<Int64>) -> [UInt8] {
    var octets = Array(identifier.prefix(8))
    octets[0] = 0x20 | (octets[0] & 0x3f)
    for place in 0..<4 {
      octets[4 + place] ^= UInt8(truncatingIfNeeded: window.lowerBound >> (8 * Int64(place)))
    }
    return octets
  }

  /// Returns the certificate with which Xcode signs app receipts: self-signed, serial number 1, a
  /// CA.
  static func xcode(_ keys: ReceiptAuthority.Keys) throws -> CertificateTemplate {
    let name = DistinguishedName.make([
      ("CN", "Assay Test StoreKit"), ("O", "Assay Test StoreKit"),
      ("OU", "Assay Test StoreKit"), ("C", "US"),
    ])
    var template = CertificateTemplate(
      serial: [1], issuer: name, subject: name, notBefore: .standard(Window.xcode.lowerBound),
      notAfter: .standard(Window.xcode.upperBound),
      publicKeyInfo: try keys.xcode.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: true), .keyUsage([.digitalSignature, .keyCertSign]),
        .extendedKeyUsage("1.3.6.1.5.5.7.3.3", critical: true),
      ])
    template.sign(.sha256)
    return template
  }
}

extension CertificateTemplate {
  /// Selects an RSA signature with this digest.
  package mutating func sign(_ digest: SigningKey.Digest) {
    innerAlgorithm = digest.rsaAlgorithm
    outerAlgorithm = nil
    self.digest = digest
  }
}
