import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// ATT-1 … ATT-48: attestations that are good but for one thing.
@Suite("Attestations")
struct AttestationTests {
  // MARK: form (ATT-10 … ATT-15)

  @Test("ATT-10 exactly the members of Apple's objects")
  func members() throws {
    let status = "malformed.attest.statement"
    let verifier = try Fixture.verifier()
    func object(
      _ change: @escaping @Sendable ([CBORText.Member]) -> [CBORText.Member]
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { $0.object = change }, verifier).name
    }
    func statement(
      _ change: @escaping @Sendable ([CBORText.Member]) -> [CBORText.Member]
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { $0.statement = change }, verifier).name
    }
    #expect(try object { $0.reversed() } == "ok")
    #expect(try statement { $0.reversed() } == "ok")
    for name in ["fmt", "attStmt", "authData"] {
      #expect(try object { $0.removing(name) } == status)
      #expect(try object { $0.setting(name, .unsigned(1)) } == status)
      #expect(try object { $0.setting(name, .array([])) } == status)
    }
    #expect(try object { $0.setting("more", .unsigned(1)) } == status)
    let keyed = "malformed.attest.cbor"
    #expect(try object { $0 + [.init(.unsigned(1), .unsigned(1))] } == keyed)
    #expect(try object { $0 + [.init(.bytes(utf8("fmt")), .text("x"))] } == keyed)
    #expect(try statement { $0 + [.init(.negative(1), .text("x"))] } == keyed)
    for name in ["x5c", "receipt"] {
      #expect(try statement { $0.removing(name) } == status)
      #expect(try statement { $0.setting(name, .text("x")) } == status)
    }
    #expect(try statement { $0.setting("alg", .negative(6)) } == status)
    #expect(try object { $0 + [$0[0]] } == "malformed.attest.cbor")
    let array = try Fixture.attestation { $0.finish = { _ in CBORText.array([]).encoded } }
    #expect(try Fixture.attest(array, verifier).refusal == status + " byte 0")
    for format in ["packed", "apple", "apple-appattest ", "", "Apple-AppAttest"] {
      let other = try Fixture.attestation { $0.format = .text(format) }
      #expect(try Fixture.attest(other, verifier).refusal == "unsupported.attest.format fmt")
    }
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
      #expect(try Fixture.attest(other, verifier).refusal == "unsupported.attest.format fmt")
    }
  }

  @Test("ATT-12 an attestation without receipt")
  func receipt() throws {
    let bare = try Fixture.attestation { $0.receipt = [] }
    #expect(try Fixture.attest(bare).name == "malformed.attest-receipt.empty")
    // It is a fault of form, named before faults of content.
    #expect(try Fixture.attest(bare).text("error.check") == "attest.form")
    let verifier = try Fixture.verifier([("attest.receipt", "ignore")])
    let document = try Fixture.attest(bare, verifier)
    #expect(document.status == .ok)
    #expect(document.tree?.at("attestation.receipt")?.isNull == true)
    #expect(document.outcome("attest.receipt") == "null")
    let junk = try Fixture.attestation { $0.receipt = [1, 2, 3] }
    #expect(try Fixture.attest(junk, verifier).status == .ok)
    let refused = try Fixture.attest(junk)
    #expect(refused.status.family == .malformed)
    #expect(refused.text("error.at")?.hasPrefix("receipt/") == true)
    #expect(refused.outcome("attest.receipt") == "false")
    #expect(refused.outcome("attest.acl") == "null")
  }

  // MARK: the object against its certificate (§4)

  @Test("ATT-20 the nonce")
  func nonce() throws {
    let verifier = try Fixture.verifier()
    func refusal(
      _ extensions: @escaping @Sendable ([UInt8]) -> [CertificateExtension]
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { $0.nonce = extensions }, verifier).refusal
    }
    @Sendable func value(_ value: [UInt8], critical: Bool = false) -> [CertificateExtension] {
      [CertificateExtension(AttestLeafExtensions.nonceOID, critical: critical, value)]
    }
    let head: [UInt8] = [0x30, 0x24, 0xa1, 0x22, 0x04, 0x20]
    #expect(try refusal { value(head + $0, critical: true) } == "ok ")
    let malformed = "malformed.attest.nonce-extension x5c[0]"
    #expect(try refusal { value(head + $0 + [0]) } == malformed)
    #expect(try refusal { value(head + $0.dropLast()) } == malformed)
    #expect(try refusal { value([0x04, 0x20] + $0) } == malformed)
    #expect(try refusal { value([0x30, 0x24, 0xa0, 0x22, 0x04, 0x20] + $0) } == malformed)
    #expect(try refusal { _ in value([]) } == malformed)
    #expect(try refusal { value(head + $0.reversed()) } == "rejected.attest.nonce x5c[0]")
    #expect(try refusal { _ in [] } == "rejected.chain.leaf-marker x5c[0]")
    let unmarked = try Fixture.attest(try Fixture.attestation { $0.nonce = { _ in [] } }, verifier)
    #expect(unmarked.text("error.check") == "chain")
    #expect(
      try refusal { value(head + $0) + value(head + $0) }
        == "rejected.chain.duplicate-extension x5c[0]")
    let other = try Fixture.attest(
      try Fixture.attestation(), verifier, clientData: .data(utf8("other")))
    #expect(other.name == "rejected.attest.nonce")
    #expect(other.text("error.hint")?.hasPrefix("other-challenge: ") == true)
    // The hint of the table, without a leading word.
    let unread = try Fixture.attestation { $0.receipt = [1] }
    let ignoring = try Fixture.verifier([("attest.receipt", "ignore")])
    let table = try Fixture.attest(unread, ignoring, clientData: .data(utf8("other")))
      .text("error.hint")
    // DIA-2: the hash in a refreshed receipt is damaged and says nothing.
    let refreshed = try Fixture.attest(
      try Fixture.attestation { $0.changeReceiptFacts = { $0.kind = .receipt } }, verifier,
      clientData: .data(utf8("other")))
    #expect(refreshed.name == "rejected.attest.nonce")
    #expect(refreshed.text("error.hint") == table)
    #expect(other.outcome("chain") == "true")
    #expect(other.outcome("attest.nonce") == "false")
    #expect(other.outcome("attest.key-id") == "null")
  }

  // MARK: policy (§4.3, §4.4)

  @Test("ATT-46 the bundle version")
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
    #expect(try name("1314", ["exact": ["1313", "1314"]]) == "ok")
    #expect(try name("1314", ["exact": ["1315"]]) == refused)
    #expect(try name("1.10", ["minimum": "1.9"]) == "ok")
    #expect(try name("1.9", ["minimum": "1.10"]) == refused)
    #expect(try name("2", ["minimum": "2.0.0"]) == "ok")
    #expect(try name("2.0.0", ["minimum": "2"]) == "ok")
    #expect(try name("1.99.99", ["minimum": "2"]) == refused)
    #expect(try name("2.0b3", ["minimum": "1"]) == refused)
    let digits = String(repeating: "9", count: 18)
    #expect(try name(digits, ["minimum": "1"]) == "ok")
    #expect(try name("1" + String(repeating: "0", count: 18), ["minimum": "1"]) == refused)
    let parts = Array(repeating: "1", count: 16).joined(separator: ".")
    #expect(try name(parts, ["minimum": "1"]) == "ok")
    #expect(try name(parts + ".1", ["minimum": "1"]) == refused)
    #expect(try name("", ["minimum": "1"]) == refused)
    #expect(try name(nil, ["minimum": "1"]) == "ok")
    #expect(try name(nil, ["minimum": "1"], missing: "refuse") == refused)
  }

  // MARK: what the leaf tells besides (§4.5, ATT-22)

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
      // A length of no octets, and one of three.
      [0x30, 0x04, 0xbf, 0x8f, 0x7f, 0x80],
      [0x30, 0x0a, 0xbf, 0x8a, 0x78, 0x83, 0x00, 0x00, 0x03, 0x04, 0x01, 0x41],
      // A tag that is 1400 only in its low 64 bits.
      [0x30, 0x10, 0xbf, 0x81] + [UInt8](repeating: 0x80, count: 8)
        + [0x8a, 0x78, 0x03, 0x04, 0x01, 0x41],
    ] as [[UInt8]] {
      let document = try document(system, value)
      #expect(document.status == .ok)
      #expect(document.warningIds == ["leaf-info"], "\(value)")
      #expect(document.tree?.at("attestation.os.version")?.isNull == true)
    }
    let absent = try document(system, nil)
    #expect(absent.warningIds.isEmpty)
    #expect(absent.tree?.at("attestation.os.platform")?.isNull == true)
    // [2047], an INTEGER, an OCTET STRING that is not text, and nothing.
    for value in [
      [0x30, 0x07, 0xbf, 0x8f, 0x7f, 0x03, 0x02, 0x01, 0x00],
      [0x30, 0x07, 0xbf, 0x8f, 0x7f, 0x03, 0x04, 0x01, 0x00],
      [0x30, 0x04, 0xbf, 0x8f, 0x7f, 0x00],
    ] as [[UInt8]] {
      #expect(try document(system, value).warningIds.isEmpty, "\(value)")
    }
    // [1400], [1403] and [1026] of another type.
    for tag in [[0x8a, 0x78], [0x8a, 0x7b], [0x88, 0x02]] as [[UInt8]] {
      let other = try document(
        system, [0x30, 0x07, 0xbf] + tag + [0x03, 0x02, 0x01, 0x1b])
      #expect(other.warningIds == ["leaf-info"])
      #expect(other.tree?.at("attestation.warnings")?.count == 1)
    }
    let octets: [UInt8] = [0x30, 0x05, 0xa3, 0x03, 0x04, 0x01, 0x00]
    let null: [UInt8] = [0x05, 0x00]
    #expect(try document(AttestLeafExtensions.accessControlOID, octets).warningIds == [])
    for value in [
      [0x30, 0x00], octets + null, [0x30, 0x07] + octets.dropFirst(2) + null,
      [0x30, 0x07, 0xa3, 0x05] + octets.dropFirst(4) + null,
    ] as [[UInt8]] {
      #expect(
        try document(AttestLeafExtensions.accessControlOID, value).warningIds == ["leaf-info"],
        "\(value)")
    }
    #expect(try document(AttestLeafExtensions.keyFactsOID, [0x00]).warningIds == ["leaf-info"])
  }

  // MARK: challenge (ASR-10)
}
