import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// Tests attestations that are good but for one thing (ATT-1 … ATT-48).
@Suite("Attestations")
struct AttestationTests {
  // MARK: good ones

  @Test("a good attestation, its receipt and its checks")
  func good() throws {
    let bytes = try Fixture.attestation()
    let document = try Fixture.attest(bytes)
    checkEqual(document.refusal, "ok ")
    func text(_ path: String) -> String? { document.text("attestation." + path) }
    checkEqual(document.tree?.at("attestation.otherExtensions")?.count, 0)
    checkEqual(text("leaf.sha256")?.count, 64)
    let receipt = try require(
      text("receipt.bytes").flatMap { Base64.decodeStandard(utf8($0)[...]) })
    let object = try AttestationObject(bytes, Fixture.verifier().attest)
    checkEqual(receipt, Array(object.receipt))
    for id in AttestationCheck.ids {
      let expected = ["attest.bundle-version", "attest.acl", "attest.challenge"]
      checkEqual(
        document.outcome("\(id)"), (expected.contains("\(id)") ? "null" : "true"), "\(id)")
    }
  }

  @Test("ATT-1 nothing, and too much")
  func size() throws {
    try checkEqual(Fixture.attest([]).name, "malformed.attest.empty")
    let padded = try Fixture.attestation()
    let long = padded + [UInt8](repeating: 0, count: 16_384 - padded.count)
    try checkEqual(Fixture.attest(long).name, "malformed.attest.cbor")
    try checkEqual(Fixture.attest(long + [0]).name, "too-large.attest.object")
    try checkEqual(Fixture.attest(long + [0]).outcome("attest.input"), "false")
  }

  // MARK: input (ATT-1 … ATT-4)

  @Test("ATT-4 a hash of another length is warned of with a refusal, too")
  func clientData() throws {
    let verifier = try Fixture.verifier()
    let odd = [UInt8](repeating: 0x62, count: 24)
    // The length may explain the refusal; also for an assertion.
    for (data, warnings) in [
      (.hash(odd), ["client-data-hash-length"]), (.hash([UInt8](repeating: 1, count: 15)), []),
      (.hash([UInt8](repeating: 1, count: 32)), []), (.data(odd), []),
    ] as [(ClientDataInput, [String])] {
      let refused = try Fixture.attest(Fixture.attestation(), verifier, clientData: data)
      check(refused.status != .ok && refused.warningIds == warnings)
      let assertion = try Fixture.assert(Fixture.assertion(), verifier, clientData: data)
      check(assertion.status != .ok && assertion.warningIds == warnings)
    }
  }

  @Test("ATT-23 a verifier without any App ID names the member")
  func appIds() throws {
    let document = try Fixture.attest(try Fixture.attestation(), try Minted.verifier())
    checkEqual(document.refusal, "config.attest.app-ids attest.appIds")
  }

  // MARK: form (ATT-10 … ATT-15)

  @Test("ATT-10 an object that is a map; the format is judged before the members of the statement")
  func members() throws {
    let verifier = try Fixture.verifier()
    let array = try Fixture.attestation { $0.finish = { _ in CBORText.array([]).encoded } }
    try checkEqual(
      Fixture.attest(array, verifier).refusal, "malformed.attest.statement byte 0")
    // WebAuthn objects, whose statements have other members.
    let statements: [(String, [CBORText.Member])] = [
      ("none", []), ("packed", [.init("alg", .negative(6)), .init("sig", .bytes([1]))]),
      ("apple", [.init("x5c", .array([]))]),
    ]
    for (format, members) in statements {
      let other = try Fixture.attestation {
        $0.format = .text(format)
        $0.statement = { _ in members }
      }
      try checkEqual(Fixture.attest(other, verifier).refusal, "unsupported.attest.format fmt")
    }
  }

  @Test("ATT-11 which certificate of x5c is one too many, too long or none")
  func chainLength() throws {
    let verifier = try Fixture.verifier()
    let root = try Fixture.authority().rootCertificate
    func refusal(
      _ change: @escaping @Sendable ([[UInt8]]) -> [[UInt8]]
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { $0.chain = change }, verifier).refusal
    }
    try checkEqual(refusal { _ in [] }, "rejected.chain.length x5c")
    try checkEqual(refusal { $0 + [$0[1]] }, "rejected.chain.length x5c[2]")
    try checkEqual(refusal { $0 + [root + [0]] }, "rejected.chain.length x5c[2]")
    try checkEqual(
      refusal { [$0[0], [UInt8](repeating: 0x30, count: 4097)] },
      "too-large.chain.certificate x5c[1]")
    try checkEqual(
      refusal { [$0[0], [UInt8](repeating: 0x30, count: 4096)] }, "malformed.chain.der x5c[1]")
    try checkEqual(refusal { [[], $0[1]] }, "malformed.chain.der x5c[0]")
    try checkEqual(refusal { [$0[0] + [0], $0[1]] }, "malformed.chain.der x5c[0]")
    let typed = try Fixture.attestation {
      $0.statement = { $0.setting("x5c", .array([.text("x"), .text("y")])) }
    }
    try checkEqual(Fixture.attest(typed, verifier).refusal, "malformed.attest.statement x5c[0]")
  }

  @Test("ATT-12 an attestation without a receipt, and with one that is none")
  func receipt() throws {
    let bare = try Fixture.attestation { $0.receipt = [] }
    // A missing receipt is a fault of form, reported before faults of content.
    try checkEqual(Fixture.attest(bare).text("error.check"), "attest.form")
    let junk = try Fixture.attestation { $0.receipt = [1, 2, 3] }
    let refused = try Fixture.attest(junk)
    checkEqual(refused.status.family, .malformed)
    checkEqual(refused.text("error.at")?.hasPrefix("receipt/"), true)
    checkEqual(refused.outcome("attest.receipt"), "false")
    checkEqual(refused.outcome("attest.acl"), "null")
  }

  @Test("ATT-13 the length and layout of authenticator data")
  func authData() throws {
    let verifier = try Fixture.verifier()
    let status = "malformed.attest.auth-data"
    func refusal(
      _ change: (inout AuthenticatorDataTemplate) -> Void
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { change(&$0.authData) }, verifier).refusal
    }
    try checkEqual(refusal { $0.credential = nil }, status + " authData")
    try checkEqual(refusal { $0.credential?.idLength = 31 }, status + " authData/byte 53")
    try checkEqual(refusal { $0.credential?.idLength = 0xffff }, status + " authData/byte 53")
    try checkEqual(refusal { $0.trailing = [0] }, status + " authData/byte 229")
    try checkEqual(
      refusal { $0.trailing = [UInt8](repeating: 0, count: 1024) }, status + " authData")
    for count in [0, 1, 36, 37, 53, 55, 87, 163] {
      let short = try Fixture.attestation { template in
        template.sentAuthData = Array(template.authData.bytes.prefix(count))
      }
      try checkEqual(Fixture.attest(short, verifier).refusal, status + " authData")
    }
  }

  @Test("ATT-15 unknown extensions are shown, and a fault of the map says where")
  func extensions() throws {
    let verifier = try Fixture.verifier()
    let category = "apple_validation_category_01"
    func document(_ members: [CBORText.Member]) throws -> Document {
      try Fixture.attest(
        try Fixture.attestation { $0.authData.extensions = members }, verifier)
    }
    let unknown = try document([
      .init("x", .array([.unsigned(1), .text("a")])), .init(category, .bytes([4, 0, 0, 0])),
    ])
    checkEqual(unknown.text("attestation.otherExtensions.x"), "82016161")
    try checkEqual(
      document([.init(.unsigned(1), .text("1"))]).refusal, "malformed.attest.cbor authData/byte 165"
    )
    try checkEqual(
      document([.init("a", .raw([0xf5]))]).refusal, "malformed.attest.cbor authData/byte 167")
  }

  // MARK: the object against its certificate (§4)

  @Test("ATT-20 DIA-2 another nonce: the checks before and after it, and no hint without a receipt")
  func nonce() throws {
    let verifier = try Fixture.verifier()
    let unmarked = try Fixture.attest(try Fixture.attestation { $0.nonce = { _ in [] } }, verifier)
    checkEqual(unmarked.text("error.check"), "chain")
    let other = try Fixture.attest(
      try Fixture.attestation(), verifier, clientData: .data(utf8("other")))
    // The hint of the table has no leading word.
    let unread = try Fixture.attestation { $0.receipt = [1] }
    let ignoring = try Fixture.verifier([("attest.receipt", "ignore")])
    let table = try Fixture.attest(unread, ignoring, clientData: .data(utf8("other")))
      .text("error.hint")
    // The hash in a refreshed receipt is damaged and proves nothing (DIA-2).
    let refreshed = try Fixture.attest(
      try Fixture.attestation { $0.changeReceiptFacts = { $0.kind = .receipt } }, verifier,
      clientData: .data(utf8("other")))
    checkEqual(refreshed.name, "rejected.attest.nonce")
    checkEqual(refreshed.text("error.hint"), table)
    checkEqual(other.outcome("chain"), "true")
    checkEqual(other.outcome("attest.nonce"), "false")
    checkEqual(other.outcome("attest.key-id"), "null")
  }

  @Test("checks 4 to 9: where authenticator data is of another key, app or environment")
  func authenticatorData() throws {
    let verifier = try Fixture.verifier()
    func refusal(
      _ change: (inout AuthenticatorDataTemplate) -> Void
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { change(&$0.authData) }, verifier).refusal
    }
    try checkEqual(
      refusal { $0.credential?.coseKey[20] ^= 1 }, "rejected.attest.cose-key authData/byte 87")
    try checkEqual(refusal { $0.rpIdHash[31] ^= 1 }, "rejected.attest.app-id authData/byte 0")
    try checkEqual(refusal { $0.counter = 1 }, "rejected.attest.counter authData/byte 33")
    try checkEqual(
      refusal { $0.credential?.id[0] ^= 1 }, "rejected.attest.credential-id authData/byte 55")
    try checkEqual(
      refusal { $0.credential?.aaguid = utf8("appattestDEVELOP") },
      "unsupported.attest.aaguid authData/byte 37")
    try checkEqual(refusal { $0.flags = 0xbf }, "rejected.attest.flags authData/byte 32")
  }

  @Test("the first failure gives the status")
  func order() throws {
    let verifier = try Fixture.verifier()
    let object = try Fixture.attestation {
      $0.authData.counter = 1
      $0.authData.rpIdHash[0] ^= 1
      $0.authData.credential?.coseKey[0] = 0
      $0.authData.credential?.aaguid = utf8("0000000000000000")
      $0.authData.credential?.id[0] ^= 1
    }
    try checkEqual(Fixture.attest(object, verifier).name, "rejected.attest.cose-key")
    let other = try Fixture.attest(object, verifier, keyId: [UInt8](repeating: 0, count: 32))
    checkEqual(other.name, "rejected.attest.key-id")
    checkEqual(other.outcome("attest.cose-key"), "null")
  }

  // MARK: time (ATT-40, ATT-41)

  @Test("ATT-40 stored: a receipt that is none is refused before the chain is judged")
  func stored() throws {
    let verifier = try Fixture.verifier([("attest.time", "stored")])
    let junk = try Fixture.attestation { $0.receipt = [0x30, 0x80] }
    let document = try Fixture.attest(junk, verifier)
    checkEqual(document.status.family, .malformed)
    checkEqual(document.outcome("attest.receipt"), "false")
    checkEqual(document.outcome("chain"), "null")
    // A chain under no trusted root is refused as such, whatever the receipt.
    let foreign = try SigningKey.generate(.p384)
    let forged = try Fixture.attestation {
      $0.receipt = [0x30, 0x80]
      $0.leafSigner = foreign
    }
    try checkEqual(
      Fixture.attest(forged, verifier).refusal, "rejected.chain.signature-leaf x5c[0]")
  }

  // MARK: policy (§4.3, §4.4)

  @Test("ATT-46 how long a bundle version may be, and one that is missing")
  func bundleVersion() throws {
    func name(_ version: String?, _ policy: JSONText, missing: JSONText = "accept") throws -> String
    {
      let verifier = try Fixture.verifier([
        ("attest.bundleVersion", policy), ("attest.category", ["missing": missing]),
      ])
      let members: [CBORText.Member] =
        [.init("apple_validation_category_01", .unsigned(4))]
        + (version.map { [.init("apple_bundle_version_01", .text($0))] } ?? [])
      let object = try Fixture.attestation { $0.authData.extensions = members }
      return try Fixture.attest(object, verifier).name
    }
    let refused = "rejected.attest.bundle-version"
    try checkEqual(name("2", ["minimum": "2.0.0"]), "ok")
    let digits = String(repeating: "9", count: 18)
    try checkEqual(name(digits, ["minimum": "1"]), "ok")
    try checkEqual(name("1" + String(repeating: "0", count: 18), ["minimum": "1"]), refused)
    let parts = Array(repeating: "1", count: 16).joined(separator: ".")
    try checkEqual(name(parts, ["minimum": "1"]), "ok")
    try checkEqual(name(parts + ".1", ["minimum": "1"]), refused)
    try checkEqual(name("", ["minimum": "1"]), refused)
    try checkEqual(name(nil, ["minimum": "1"]), "ok")
    try checkEqual(name(nil, ["minimum": "1"], missing: "refuse"), refused)
  }

  // MARK: other facts of the leaf (§4.5, ATT-22)

  @Test("facts that cannot be read are null with a warning")
  func leafInformation() throws {
    let verifier = try Fixture.verifier()
    func document(_ oid: String, _ value: [UInt8]?) throws -> Document {
      let object = try Fixture.attestation {
        $0.leaf = $0.leaf.replacing(oid, with: value.map { CertificateExtension(oid, $0) })
      }
      return try Fixture.attest(object, verifier)
    }
    let system = AttestLeafExtensions.systemFactsOID
    for value in [
      [], [0x30], [0x04, 0x00], [0x30, 0x03, 0xbf, 0x8a, 0x78], [0x30, 0x02, 0xbf, 0xff],
      [0x30, 0x06, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff], [0x30, 0x02, 0xa3, 0x05],
      [0x30, 0x03, 0xa3, 0x84, 0x00], [0x30, 0x02, 0x02, 0x00],
      [0x30, 0x08, 0xbf, 0x8a, 0x78, 0x04, 0x04, 0x02, 0x00, 0x41],
      // A length of no bytes, and one of three.
      [0x30, 0x04, 0xbf, 0x8f, 0x7f, 0x80],
      [0x30, 0x0a, 0xbf, 0x8a, 0x78, 0x83, 0x00, 0x00, 0x03, 0x04, 0x01, 0x41],
      // A tag that is 1400 only in its low 64 bits.
      [0x30, 0x10, 0xbf, 0x81] + [UInt8](repeating: 0x80, count: 8)
        + [0x8a, 0x78, 0x03, 0x04, 0x01, 0x41],
    ] as [[UInt8]] {
      let document = try document(system, value)
      checkEqual(document.status, .ok)
      checkEqual(document.warningIds, ["leaf-info"], "\(value)")
      checkEqual(document.tree?.at("attestation.os.version")?.isNull, true)
    }
    let absent = try document(system, nil)
    check(absent.warningIds.isEmpty)
    checkEqual(absent.tree?.at("attestation.os.platform")?.isNull, true)
    // [2047], an INTEGER, an OCTET STRING that is not text, and nothing.
    for value in [
      [0x30, 0x07, 0xbf, 0x8f, 0x7f, 0x03, 0x02, 0x01, 0x00],
      [0x30, 0x07, 0xbf, 0x8f, 0x7f, 0x03, 0x04, 0x01, 0x00],
      [0x30, 0x04, 0xbf, 0x8f, 0x7f, 0x00],
    ] as [[UInt8]] {
      try check(document(system, value).warningIds.isEmpty, "\(value)")
    }
    // [1400], [1403] and [1026] of another type.
    for tag in [[0x8a, 0x78], [0x8a, 0x7b], [0x88, 0x02]] as [[UInt8]] {
      let other = try document(
        system, [0x30, 0x07, 0xbf] + tag + [0x03, 0x02, 0x01, 0x1b])
      checkEqual(other.warningIds, ["leaf-info"])
      checkEqual(other.tree?.at("attestation.warnings")?.count, 1)
    }
    let octets: [UInt8] = [0x30, 0x05, 0xa3, 0x03, 0x04, 0x01, 0x00]
    let null: [UInt8] = [0x05, 0x00]
    try checkEqual(document(AttestLeafExtensions.accessControlOID, octets).warningIds, [])
    for value in [
      [0x30, 0x00], octets + null, [0x30, 0x07] + octets.dropFirst(2) + null,
      [0x30, 0x07, 0xa3, 0x05] + octets.dropFirst(4) + null,
    ] as [[UInt8]] {
      try checkEqual(
        document(AttestLeafExtensions.accessControlOID, value).warningIds, ["leaf-info"],
        "\(value)")
    }
    try checkEqual(document(AttestLeafExtensions.keyFactsOID, [0x00]).warningIds, ["leaf-info"])
  }
}
