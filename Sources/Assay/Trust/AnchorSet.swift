/// The anchors of one kind of evidence. Configured anchors replace Apple's as a whole (CER-2).
struct AnchorSet: Sendable {
  /// The kinds of evidence, each with its own root (CER-3).
  enum Kind: Sendable { case storekit, receipts, attestations, attestReceipts }

  let kind: Kind
  /// The configured anchors.
  let own: [Anchor]
  /// Whether the anchor is Apple's built-in one.
  let areBuiltIn: Bool

  /// The most anchors that a configuration may list for one kind of evidence.
  static let cap = 16

  /// Returns the anchors.
  ///
  /// - Throws: `internal.certificates.table`: the compiled-in root is damaged (CER-6);
  ///   `internal.crypto.sha1-disabled`: Apple Root CA signed itself with SHA-1, which is the
  ///   known answer of PTH-12, and libcrypto forbids it.
  func anchors() throws(Refusal) -> [Anchor] {
    if !own.isEmpty { return own }
    guard let apple = kind.apple else {
      throw kind == .receipts
        ? Refusal(.internalCryptoSha1Disabled, "PTH-12", at: "libcrypto")
        : Refusal(.internalCertificatesTable, "CER-6", at: "roots")
    }
    return [apple]
  }

  /// Writes the member of the effective configuration that lists these anchors.
  func write(_ name: StaticString, _ writer: inout JSONWriter) {
    writer.name(name)
    writer.beginObject()
    writer.member("source", areBuiltIn ? "built-in" : "configured")
    writer.name("sha256")
    writer.beginArray()
    if areBuiltIn { writer.string(kind.shipped.sha256) }
    for anchor in own { writer.string(anchor.certificate.fingerprint) }
    writer.endArray()
    writer.endObject()
  }
}

extension AnchorSet {
  init(_ kind: Kind, _ own: [Anchor]) {
    self.init(kind: kind, own: own, areBuiltIn: own.isEmpty)
  }
}

extension AnchorSet.Kind {
  fileprivate var shipped: AppleRoots.Shipped {
    switch self {
    case .storekit, .attestReceipts: return AppleRoots.g3Root
    case .receipts: return AppleRoots.receiptRoot
    case .attestations: return AppleRoots.attestRoot
    }
  }

  /// Apple's root, decoded once in a process; `nil` if it is damaged or libcrypto refuses it.
  fileprivate var apple: Anchor? {
    switch self {
    case .storekit, .attestReceipts: return AnchorSet.Kind.g3
    case .receipts: return AnchorSet.Kind.appleRoot
    case .attestations: return AnchorSet.Kind.appAttestation
    }
  }

  private static let g3 = Anchor(AppleRoots.rootCAG3, .elliptic)
  private static let appleRoot = Anchor(AppleRoots.rootCA, .rsa)
  private static let appAttestation = Anchor(AppleRoots.appAttestationRootCA, .elliptic)
}
