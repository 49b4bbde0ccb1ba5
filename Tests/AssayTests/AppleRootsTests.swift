import AssayAuthority
import Testing

@testable import Assay

@Suite("Apple's roots")
struct AppleRootsTests {
  /// A row of docs/spec/certificates.md §2 has the length of a file and its SHA-256.
  @Test("CER-2 the nine arrays are the certificates of the specification, and no others")
  func specification() throws {
    let page = String(
      decoding: try require(Vectors.packageFile("docs/spec/certificates.md")), as: UTF8.self)
    var published: [String: Int] = [:]
    for row in page.split(separator: "\n") where row.hasPrefix("| `apple-") {
      let fingerprint = try require(row.split(separator: "`").first { $0.count == 64 })
      let octets = try require(row.split(separator: "(").dropFirst().first).prefix { $0 != " " }
      published[String(fingerprint)] = Int(octets.filter { $0 != "," })
    }
    let compiled =
      AppleRoots.receiptTable.map(\.der) + [
        AppleRoots.rootCAG2, AppleRoots.rootCAG3, AppleRoots.appAttestationRootCA,
      ]
    checkEqual(
      Dictionary(uniqueKeysWithValues: compiled.map { (Authority.fingerprint($0), $0.count) }),
      published)
    checkEqual(published.count, 9)
  }

  @Test("CER-2 the compiled-in root says what Apple published of it")
  func rootFacts() throws {
    let root = try require(Certificate(AppleRoots.rootCAG3))
    checkEqual(Hex.encode(Array(root.bytes(root.serial)), upper: true), utf8("2DC5FC88D2C54B95"))
    checkEqual(root.notBefore, 1_398_881_946)
    checkEqual(root.notAfter, 2_187_800_346)
    checkEqual(root.keyType, .elliptic(.p384))
    checkEqual(root.bytes(root.issuer), root.bytes(root.subject))
    let key = try require(root.publicKey())
    check(root.isSigned(by: key))
  }

  @Test("CER-6 CFG-3 the built-in set is made of a root that passes its own check")
  func builtInSet() throws {
    for (kind, root) in [
      (.storekit, AppleRoots.rootCAG3), (.receipts, AppleRoots.rootCA),
      (.attestations, AppleRoots.appAttestationRootCA), (.attestReceipts, AppleRoots.rootCAG3),
    ] as [(AnchorSet.Kind, [UInt8])] {
      let set = AnchorSet(kind, [])
      check(set.areBuiltIn)
      try checkEqual(set.anchors().map(\.certificate.der), [root])
    }
  }

  @Test("CER-6 CFG-3 no root with a byte changed passes its own check")
  func damagedRoots() {
    for place in AppleRoots.rootCAG3.indices {
      var other = AppleRoots.rootCAG3
      other[place] ^= 0x01
      check(Anchor(other, .elliptic) == nil, "byte \(place)")
    }
  }

  /// Returns the intermediate G6 of a genuine JWS.
  private func intermediate(_ suite: String) -> [UInt8]? {
    for entry in Vectors.jws(for: suite) where entry.isGenuine {
      let chain = Vectors.certificates(of: entry.jws)
      if chain.count == 3 { return chain[1] }
    }
    return nil
  }

  @Test(
    "JWS-35 the intermediate that is taken as proven really verifies under the root",
    .enabled(if: Vectors.arePresent, Vectors.absent))
  func provenIntermediate() throws {
    guard let der = intermediate("G6 under G3") else { return }
    checkEqual(Digest.sha256.of(der), AppleRoots.developerRelationsG6)
    checkEqual(
      Authority.fingerprint(der), "bdd4ed6e74691f0c2bfd01be0296197af1379e0418e2d300efa9c3bef642ca30"
    )
    let certificate = try require(Certificate(der))
    let root = try require(Anchor(AppleRoots.rootCAG3, .elliptic))
    check(certificate.isSigned(by: root.key))
    checkEqual(
      certificate.bytes(certificate.issuer), root.certificate.bytes(root.certificate.subject))
    _ = try CertificateProfile.appStoreIntermediate.profiled(certificate, at: "x5c[1]")
    checkEqual(certificate.notBefore, 1_616_013_430)
    checkEqual(certificate.notAfter, 2_089_497_600)
  }

  /// Verifies the genuine chain under an anchor with the root's name and another key: only the
  /// signature of the intermediate proves that the anchor is not the root.
  @Test(
    "JWS-35 the shortcut is off with own anchors", .enabled(if: Vectors.arePresent, Vectors.absent))
  func ownAnchors() throws {
    guard let der = intermediate("shortcut of G6"),
      let entry = Vectors.jws(for: "shortcut of G6").first(where: { $0.isGenuine })
    else { return }
    let root = try require(Certificate(AppleRoots.rootCAG3))
    let key = try SigningKey.generate(.p384)
    var template = try Minted.authority().root
    template.subject = Array(root.bytes(root.subject))
    template.issuer = template.subject
    template.publicKeyInfo = try key.publicKeyInfo()
    let forged = try template.signed(by: key)
    let anchor = try require(Anchor(forged, .elliptic))
    let chain = Vectors.certificates(of: entry.jws)
    let entries = [chain[0], der, forged].map { Text(Base64.encodeStandard($0)) }

    func prove(areBuiltIn: Bool) throws -> ProvenPath {
      let trust = StoreKitTrust(
        configuration: Configuration(),
        anchors: AnchorSet(kind: .storekit, own: [anchor], areBuiltIn: areBuiltIn),
        Configuration().ownProofs)
      let given = try HeaderChain(entries, trust.chains.anchors, rootIsSought: false)
      let path = try CandidatePath(.appStore, leaf: given.leaf, intermediate: given.intermediate)
      var budget = SignatureBudget()
      return try path.profiled().withProvenIntermediates(given.root, trust.chains, &budget)
        .proven(trust.chains, &budget)
    }
    #expect(throws: Refusal(.rejectedChainSignatureIntermediate, "JWS-31")) {
      try prove(areBuiltIn: false)
    }
    // The chain would pass with the shortcut, so the line above proves that the shortcut is off.
    #expect(throws: Never.self) { try prove(areBuiltIn: true) }
  }

  @Test("CER-2 own anchors replace Apple's as a whole, and the document says so")
  func replaced() throws {
    let (verifier, document) = Verifier.alone(try Minted.config().bytes)
    check(verifier != nil)
    checkEqual(document.text("configuration.storekit.anchors.source"), "configured")
    checkEqual(
      document.text("configuration.storekit.anchors.sha256.0"),
      Authority.fingerprint(try Minted.authority().chain.root))
    check(document.text("configuration.storekit.anchors.sha256.1") == nil)
    let apple = Verifier.alone(try Minted.config().removing("storekit").bytes).document
    checkEqual(apple.text("configuration.storekit.anchors.source"), "built-in")
    checkEqual(
      apple.text("configuration.storekit.anchors.sha256.0"),
      Authority.fingerprint(AppleRoots.rootCAG3))
    for entry in Vectors.jws(for: "genuine JWS under own anchors") where entry.isGenuine {
      let answer = try require(verifier).verifyJWS(
        entry.jws, kind: try require(entry.kind), nowMs: Minted.now)
      checkEqual(answer.status, .rejectedChainUntrustedRoot, "\(entry.name)")
      checkEqual(answer.text("error.at"), "x5c[2]")
    }
  }
}
