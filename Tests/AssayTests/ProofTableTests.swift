import AssayAuthority
import Testing

@testable import Assay

/// Tests that proofs outlive their verifier, for verifiers that trust the same (JWS-66).
@Suite("Proofs of a process")
struct ProofTableTests {
  private let table = ProofTable(capacity: 4)

  private func verifier(
    _ changes: [(String, JSONText)] = [], in table: ProofTable? = nil
  ) throws -> Verifier {
    let (verifier, document) = Verifier.make(
      try Minted.config(changes).bytes, sharing: table ?? self.table)
    return try require(verifier, "\(document.text("error.message") ?? "")")
  }

  /// Whether the chain of a good transaction was known to this verifier.
  private func isCached(_ verifier: Verifier, chain: CertificateChain? = nil) throws -> Bool? {
    let template = JWSTemplate(
      payload: Minted.purchase.transactionPayload.bytes,
      chain: try chain ?? Minted.authority().chain)
    let answer = verifier.verifyJWS(try template.signed(), kind: .transaction, nowMs: Minted.now)
    checkEqual(answer.status, .ok)
    return answer.tree?.at("transaction.chain.cached")?.boolean
  }

  private func digest(_ changes: [(String, JSONText)] = []) throws -> [UInt8] {
    TrustDigest.of(try ConfigurationReader.read(try Minted.config(changes).bytes))
  }

  private static func stranger() throws -> JSONText {
    .string(try Authority(now: Minted.now).anchor)
  }

  // MARK: sharing

  @Test("JWS-66 what one verifier proved is known to the next of the same trust")
  func sameTrust() throws {
    try checkEqual(isCached(verifier()), false)
    // The first verifier has been freed.
    try checkEqual(isCached(verifier()), true)
    // These settings are no part of a proof.
    let other: [(String, JSONText)] = [
      ("products", ["a.b": ["type": "consumable"]]), ("environments", ["Sandbox"]),
      ("storekit.caps", ["jwsBytes": 32_768]), ("clockSkewMs", 0),
      ("storekit.maxAgeMs", ["transaction": 60_000]),
      ("storekit.nested", "omit"),
    ]
    try checkEqual(isCached(verifier(other)), true)
    // Another process has another table.
    try checkEqual(isCached(verifier(in: ProofTable(capacity: 4))), false)
  }

  @Test("JWS-66 another root, another order, another pin, another word: another set of proofs")
  func otherTrust() throws {
    let mine = JSONText.string(try Minted.authority().anchor)
    let other = try Self.stranger()
    let receipts = try AppReceiptFixture.authority().configuration
    let digests = try [
      digest(),
      digest([("storekit.anchors", [mine, other])]),
      digest([("storekit.anchors", [other, mine])]),
      digest([("storekit.anchors", [other])]),
      digest([("storekit.x5cRoot", "ignored")]),
      digest([("storekit.cache", ["chains": 15])]),
      digest([("storekit.xcodeCertificates", [.string(Self.pin(1))])]),
      digest([("storekit.xcodeCertificates", [.string(Self.pin(2))])]),
      digest([
        ("storekit.xcodeCertificates", [.string(Self.pin(1))]), ("environments", ["Xcode"]),
      ]),
      digest([("receipts", receipts)]),
      digest([("receipts.version2", "refuse")]),
      digest([("attest", ["appIds": ["ABCDE12345.com.example.app"], "anchors": [mine]])]),
      digest([("attest", ["appIds": ["ABCDE12345.com.example.app"], "receiptAnchors": [mine]])]),
    ]
    for (index, one) in digests.enumerated() {
      checkEqual(one.count, 32)
      for another in digests[(index + 1)...] { check(one != another, "\(index)") }
    }
    // Equal trust gives an equal digest, whatever the other settings.
    try checkEqual(digest(), digests[0])
    try checkEqual(digest([("products", ["a.b": ["type": "consumable"]])]), digests[0])
  }

  private static func pin(_ byte: UInt8) -> String {
    Text(Hex.encode([UInt8](repeating: byte, count: 32))).string
  }

  @Test("JWS-66 a verifier with another root is not handed the chains of the first")
  func foreignRoot() throws {
    try checkEqual(isCached(verifier()), false)
    let foreign = try verifier([("storekit.anchors", [Self.stranger()])])
    let template = JWSTemplate(
      payload: Minted.purchase.transactionPayload.bytes, chain: try Minted.authority().chain)
    let text = try template.signed()
    let answer = foreign.verifyJWS(text, kind: .transaction, nowMs: Minted.now)
    checkEqual(answer.status, .rejectedChainUntrustedRoot)
    // A second root beside the own one: the chain is valid, and is proven again.
    let both: JSONText = [.string(try Minted.authority().anchor), try Self.stranger()]
    try checkEqual(isCached(verifier([("storekit.anchors", both)])), false)
    try checkEqual(isCached(verifier([("storekit.x5cRoot", "ignored")])), false)
    try checkEqual(isCached(verifier()), true)
  }

  @Test("JWS-63 JWS-66 dates are judged again whenever the chain is found")
  func datesAnew() throws {
    try checkEqual(isCached(verifier()), false)
    let late = Minted.now + 20 * 365 * 86_400_000
    let template = JWSTemplate(
      payload: Purchase(now: late).transactionPayload.bytes,
      chain: try Minted.authority().chain)
    let answer = try verifier().verifyJWS(
      try template.signed(), kind: .transaction, nowMs: late)
    checkEqual(answer.status, .rejectedChainExpired)
  }

  // MARK: stored proofs

  @Test("JWS-62 JWS-66 nothing enters that was not proven")
  func onlyProven() throws {
    let stranger = try SigningKey.generate(.p384)
    let chain = try Minted.authority().chain(leafSigner: stranger)
    let text = try JWSTemplate(
      payload: Minted.purchase.transactionPayload.bytes, chain: chain
    ).signed()
    for _ in 0..<2 {
      let answer = try verifier().verifyJWS(text, kind: .transaction, nowMs: Minted.now)
      checkEqual(answer.status, .rejectedChainSignatureLeaf)
    }
    let proofs = table.proofs(of: try ConfigurationReader.read(try Minted.config().bytes))
    check(proofs.storekit.headers.find(text.prefix { $0 != 0x2e }) == nil)
    try checkEqual(isCached(verifier()), false)
  }

  @Test("JWS-66 cache.chains 0 neither reads nor feeds")
  func switchedOff() throws {
    let off: [(String, JSONText)] = [("storekit.cache", ["chains": 0])]
    try checkEqual(isCached(verifier(off)), false)
    try checkEqual(isCached(verifier(off)), false)
    try checkEqual(isCached(verifier()), false)
    try checkEqual(isCached(verifier(off)), false)
    let none = try ConfigurationReader.read(try Minted.config(off).bytes)
    check(table.proofs(of: none) !== table.proofs(of: none))
  }

  @Test("JWS-66 only so many trusts are remembered, and the least recently used goes")
  func bounded() throws {
    func configuration(_ chains: Int) throws -> Configuration {
      try ConfigurationReader.read(
        try Minted.config([("storekit.cache.chains", .integer(Int64(chains)))]).bytes)
    }
    let first = table.proofs(of: try configuration(1))
    let second = table.proofs(of: try configuration(2))
    for chains in 3...4 { _ = table.proofs(of: try configuration(chains)) }
    check(table.proofs(of: try configuration(1)) === first)
    _ = table.proofs(of: try configuration(5))
    check(table.proofs(of: try configuration(1)) === first)
    check(table.proofs(of: try configuration(2)) !== second)
  }

  @Test("JWS-64 JWS-66 a set keeps as many chains as cache.chains says")
  func boundedChains() throws {
    let two: [(String, JSONText)] = [("storekit.cache", ["chains": 2])]
    let chains = try (0..<3).map { _ in
      try Minted.authority().chain(leafKey: .generate(.p256))
    }
    for chain in chains { try checkEqual(isCached(verifier(two), chain: chain), false) }
    try checkEqual(isCached(verifier(two), chain: chains[2]), true)
    try checkEqual(isCached(verifier(two), chain: chains[1]), true)
    try checkEqual(isCached(verifier(two), chain: chains[0]), false)
  }

  @Test("JWS-66 keys of attested devices end with their verifier")
  func deviceKeys() throws {
    func made() throws -> Verifier {
      let config = try AttestFixture.config().bytes
      return try require(Verifier.make(config, sharing: table).verifier)
    }
    let point = try AttestFixture.device().key.publicKey()
    let first = try made().attest
    let key = try require(first.key(point[...]))
    check(first.key(point[...]) === key)
    let second = try made().attest
    check(second.chains.cache.intermediates === first.chains.cache.intermediates)
    check(second.receipts.chains.cache.headers === first.receipts.chains.cache.headers)
    check(second.key(point[...]) !== key)
  }

  // MARK: roots that were read

  @Test("CER-11 a root is read once; under cache.chains 0 every time")
  func readAnchors() throws {
    let der = try require(
      Base64.decodeStandard(Array(try Authority(now: Minted.now).anchor.utf8)[...]))
    let unkept = try require(Anchor.read(der, .elliptic, isRemembered: false))
    let first = try require(Anchor.read(der, .elliptic, isRemembered: true))
    check(first.key !== unkept.key)
    try check(require(Anchor.read(der, .elliptic, isRemembered: true)).key === first.key)
    try check(require(Anchor.read(der, .elliptic, isRemembered: false)).key !== first.key)
    // Bytes that are no root stay rejected, however often they are read.
    var forged = der
    forged[der.count - 1] ^= 1
    for _ in 0..<2 { check(Anchor.read(forged, .elliptic, isRemembered: true) == nil) }
    check(Anchor.read(der, .rsa, isRemembered: true) == nil)
  }
}
