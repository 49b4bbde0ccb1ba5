/// An intermediate that was proven under a pinned root, apart from its dates.
final class ReceiptIntermediate: Sendable {
  /// Where it came from (PTH-14).
  enum Source: Sendable {
    case shipped, configured, embedded

    var name: StaticString {
      switch self {
      case .shipped: return "shipped"
      case .configured: return "configured"
      case .embedded: return "embedded"
      }
    }
  }

  let certificate: Certificate
  let key: PublicKey
  let anchor: Anchor
  let source: Source
  /// The members `intermediate` and `root` of a document's `chain`.
  let report: [UInt8]

  init(_ certificate: Certificate, _ key: PublicKey, _ anchor: Anchor, _ source: Source) {
    self.certificate = certificate
    self.key = key
    self.anchor = anchor
    self.source = source
    var writer = JSONWriter(capacity: 420)
    writer.name("intermediate")
    writer.beginObject()
    certificate.writeReportMembers(&writer)
    writer.member("source", source.name)
    writer.endObject()
    writer.name("root")
    anchor.certificate.writeReport(&writer)
    report = writer.bytes
  }
}

/// What every receipt verification of a verifier shares: pinned roots and the
/// intermediates that receipts do not carry. Immutable apart from the cache.
final class ReceiptTrust: Sendable {
  let configuration: Configuration
  /// Made once: it holds a copy of the configuration.
  let triage: Triage
  /// Own roots; empty: Apple's, compiled in.
  private let ownAnchors: [Anchor]
  private let ownIntermediates: [ReceiptIntermediate]
  /// PTH-2: shipped certificates that no own root signed. They are candidates by
  /// their name, and none can lead to a root.
  let foreignIntermediates: [Certificate]
  let cache: PathCache

  private init(
    _ configuration: Configuration, _ ownAnchors: [Anchor],
    _ ownIntermediates: [ReceiptIntermediate], _ foreign: [Certificate], _ proofs: Proofs
  ) {
    foreignIntermediates = foreign
    self.configuration = configuration
    triage = Triage(configuration)
    self.ownAnchors = ownAnchors
    self.ownIntermediates = ownIntermediates
    cache = proofs.receiptPaths
  }

  /// Apple's certificates, or the configured roots in their place (CER-2), and
  /// the configured intermediates beside the shipped ones.
  ///
  /// CER-6: a damaged table is found here, by the fingerprints; its signatures
  /// are proven when the first receipt asks for them, and by a test.
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> ReceiptTrust {
    let policy = configuration.receipts
    if policy.anchors.isEmpty {
      try require(
        AppleRoots.receiptTableIsIntact, .internalCertificatesTable, "CER-6", at: "receipts")
    }
    // Shipped ones count under own roots too, where one of these signed them.
    var intermediates: [ReceiptIntermediate] = []
    var foreign: [Certificate] = []
    if !policy.anchors.isEmpty {
      for certificate in AppleReceipts.certificates {
        if let intermediate = proven(certificate, under: policy.anchors, .shipped) {
          intermediates.append(intermediate)
        } else {
          foreign.append(certificate)
        }
      }
    }
    if !policy.intermediates.isEmpty {
      let anchors = policy.anchors.isEmpty ? AppleReceipts.anchors : policy.anchors
      intermediates += try configured(policy, under: anchors)
    }
    return ReceiptTrust(configuration, policy.anchors, intermediates, foreign, proofs)
  }

  /// Whether the anchors are Apple's own, compiled in.
  var areBuiltIn: Bool { ownAnchors.isEmpty }

  var anchors: [Anchor] { areBuiltIn ? AppleReceipts.anchors : ownAnchors }

  /// Shipped and configured ones, each proven under an anchor. Shipped ones lead
  /// to Apple's root alone.
  var intermediates: [ReceiptIntermediate] {
    guard areBuiltIn else { return ownIntermediates }
    let shipped = AppleReceipts.shared?.intermediates ?? []
    return ownIntermediates.isEmpty ? shipped : shipped + ownIntermediates
  }

  /// CER-6: each must be signed by an accepted root and have its purpose.
  private static func configured(
    _ policy: Configuration.ReceiptsPolicy, under anchors: [Anchor]
  ) throws(Refusal) -> [ReceiptIntermediate] {
    var found: [ReceiptIntermediate] = []
    for (index, certificate) in policy.intermediates.enumerated() {
      guard let intermediate = proven(certificate, under: anchors, .configured) else {
        throw Refusal(
          .configCertificatesIntermediate, "CER-6",
          at: "receipts.intermediates[" + String(index) + "]")
      }
      found.append(intermediate)
    }
    return found
  }

  /// An intermediate of either line, when an anchor signed it.
  @inline(never)
  static func proven(
    _ certificate: Certificate, under anchors: [Anchor],
    _ source: ReceiptIntermediate.Source
  ) -> ReceiptIntermediate? {
    for signer in [ReceiptSigner.app, .transactionV2] {
      var progress = 0
      if let intermediate = try? ReceiptRules.prove(
        certificate, signer, anchors, source, at: "", &progress)
      {
        return intermediate
      }
    }
    return nil
  }

  /// Names of certificates for the effective configuration.
  func writeCertificates(_ writer: inout JSONWriter) {
    writer.name("anchors")
    writer.beginObject()
    writer.member("source", areBuiltIn ? "built-in" : "configured")
    writer.name("sha256")
    writer.beginArray()
    if areBuiltIn { writer.string(AppleRoots.receiptRoot.sha256) }
    for anchor in ownAnchors { writer.string(anchor.certificate.fingerprint) }
    writer.endArray()
    writer.endObject()
    writer.name("intermediates")
    writer.beginArray()
    if areBuiltIn {
      for shipped in AppleRoots.receiptIntermediates {
        writer.beginObject()
        writer.member("sha256", shipped.sha256)
        writer.member("source", ReceiptIntermediate.Source.shipped.name)
        writer.endObject()
      }
    }
    for intermediate in ownIntermediates {
      writer.beginObject()
      writer.member("sha256", intermediate.certificate.fingerprint)
      writer.member("source", intermediate.source.name)
      writer.endObject()
    }
    writer.endArray()
  }

  /// APR-21: Xcode's own certificate counts only where such data is accepted.
  func accepts(xcode der: [UInt8]) -> Bool {
    configuration.environments.contains(.xcode)
      && configuration.storekit.xcodeCertificates.contains(Digest.sha256.of(der))
  }

  /// PTH-12: asked before the first receipt is judged. A libcrypto that forbids
  /// SHA-1 signatures must not make forgeries of genuine receipts.
  func checkReadiness() throws(Refusal) {
    try require(
      AppleReceipts.verifiesSHA1, .internalCryptoSha1Disabled, "PTH-12", at: "libcrypto")
    try require(
      !areBuiltIn || AppleReceipts.shared != nil, .internalCertificatesTable, "CER-6",
      at: "receipts")
  }
}

/// Apple's certificates for receipts, parsed and proven once in a process.
private final class AppleReceipts: Sendable {
  let root: Anchor
  let intermediates: [ReceiptIntermediate]

  /// nil: libcrypto cannot verify them.
  static let shared = make()
  /// Shipped intermediates, whoever signed them.
  static let certificates = parsed()

  static var anchors: [Anchor] {
    guard let shared else { return [] }
    return [shared.root]
  }

  /// The known answer: Apple Root CA signed itself with SHA-1.
  static let verifiesSHA1 = Anchor(AppleRoots.rootCA, .rsa) != nil

  private static func parsed() -> [Certificate] {
    var found: [Certificate] = []
    for shipped in AppleRoots.receiptIntermediates {
      if let certificate = Certificate(shipped.der) { found.append(certificate) }
    }
    return found
  }

  private init(_ root: Anchor, _ intermediates: [ReceiptIntermediate]) {
    self.root = root
    self.intermediates = intermediates
  }

  private static func make() -> AppleReceipts? {
    guard let root = Anchor(AppleRoots.rootCA, .rsa) else { return nil }
    var proven: [ReceiptIntermediate] = []
    for certificate in certificates {
      guard let intermediate = ReceiptTrust.proven(certificate, under: [root], .shipped) else {
        return nil
      }
      proven.append(intermediate)
    }
    return AppleReceipts(root, proven)
  }
}
