import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// ATT-1 … ATT-48: attestations that are good but for one thing.
@Suite("Attestations")
struct AttestationTests {
  // MARK: good ones

  @Test("a good attestation, its facts and its checks")
  func good() throws {
    let device = try Fixture.device()
    let bytes = try Fixture.attestation()
    let document = try Fixture.attest(bytes)
    #expect(document.refusal == "ok ")
    #expect(document.text("kind") == "attestation")
    func text(_ path: String) -> String? { document.text("attestation." + path) }
    #expect(text("keyId") == device.keyIdBase64)
    #expect(text("publicKey.x963").map { utf8($0) } == Base64.encodeStandard(device.point))
    let info = try #require(text("publicKey.spki").flatMap { Base64.decodeStandard(utf8($0)[...]) })
    #expect(info == (try device.key.publicKeyInfo()))
    #expect(text("appId") == Fixture.appId)
    #expect(text("environment") == "production")
    #expect(text("aaguid") == "61707061747465737400000000000000")
    #expect(document.integer("attestation.flags") == 0xc0)
    #expect(document.integer("attestation.counter") == 0)
    #expect(document.integer("attestation.category") == 4)
    #expect(text("categoryName") == "app-store")
    #expect(text("bundleVersion") == "1314")
    #expect(document.tree?.at("attestation.otherExtensions")?.count == 0)
    #expect(text("nonce")?.count == 64)
    #expect(text("os.version") == "27.0.1")
    #expect(text("os.build") == "24A446")
    #expect(text("os.platform") == "iphoneos")
    #expect(text("acl")?.count == 138)
    #expect(text("challenge") == "unchecked")
    #expect(text("leaf.sha256")?.count == 64)
    #expect(text("receipt.type") == "ATTEST")
    #expect(text("receipt.keyId") == device.keyIdBase64)
    #expect(text("revocation") == "not-available")
    #expect(document.warningIds.isEmpty)
    let receipt = try #require(
      text("receipt.bytes").flatMap { Base64.decodeStandard(utf8($0)[...]) })
    let object = try AttestationObject(bytes, Fixture.verifier().attest)
    #expect(receipt == Array(object.receipt))
    for id in AttestationCheck.ids {
      let expected = ["attest.bundle-version", "attest.acl", "attest.challenge"]
      #expect(
        document.outcome("\(id)") == (expected.contains("\(id)") ? "null" : "true"), "\(id)")
    }
  }

  @Test("a system before iOS 27 has no extensions, and that is accepted")
  func old() throws {
    let device = try Fixture.device(.iOS18)
    let document = try Fixture.attest(try Fixture.attestation(device))
    #expect(document.refusal == "ok ")
    #expect(document.integer("attestation.flags") == 0x40)
    #expect(document.tree?.at("attestation.category")?.isNull == true)
    #expect(document.tree?.at("attestation.acl")?.isNull == true)
    #expect(document.outcome("attest.category") == "null")
  }

  @Test("development attestations pass where the configuration says so")
  func development() throws {
    let object = try Fixture.attestation(try Fixture.device(.iOS27, .development))
    #expect(try Fixture.attest(object).refusal == "rejected.attest.environment authData/byte 37")
    let verifier = try Fixture.verifier([("attest.environments", ["development"])])
    #expect(try Fixture.attest(object, verifier).text("attestation.environment") == "development")
    let both = try Fixture.verifier([("attest.environments", ["production", "development"])])
    #expect(try Fixture.attest(object, both).status == .ok)
    #expect(try Fixture.attest(try Fixture.attestation(), both).status == .ok)
    #expect(
      try Fixture.attest(try Fixture.attestation(), verifier).name
        == "rejected.attest.environment")
  }

  @Test("ATT-14, ATT-15 extensions are there when bytes follow, whatever flag 0x80 says")
  func flags() throws {
    let plain = try Fixture.attestation { $0.authData.flags = 0x40 }
    #expect(try Fixture.attest(plain).integer("attestation.category") == 4)
    let bare = try Fixture.attestation {
      $0.authData.flags = 0xff
      $0.authData.extensions = nil
    }
    #expect(try Fixture.attest(bare).integer("attestation.flags") == 0xff)
    let unset = try Fixture.attestation { $0.authData.flags = 0xbf }
    #expect(try Fixture.attest(unset).refusal == "rejected.attest.flags authData/byte 32")
  }

  // MARK: input (ATT-1 … ATT-4)

  @Test("ATT-1 nothing, and too much")
  func size() throws {
    #expect(try Fixture.attest([]).name == "malformed.attest.empty")
    let padded = try Fixture.attestation()
    let long = padded + [UInt8](repeating: 0, count: 16_384 - padded.count)
    #expect(try Fixture.attest(long).name == "malformed.attest.cbor")
    #expect(try Fixture.attest(long + [0]).name == "too-large.attest.object")
    #expect(try Fixture.attest(long + [0]).outcome("attest.input") == "false")
  }

  @Test("ATT-2 the key id in four spellings, compared as bytes")
  func keyId() throws {
    let object = try Fixture.attestation()
    let verifier = try Fixture.verifier()
    let id = try Fixture.device().keyId
    let padded = Base64.encodeStandard(id)
    let url = padded.dropLast().map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 }
    for good in [id, padded, url, Hex.encode(id), Hex.encode(id, upper: true)] {
      #expect(try Fixture.attest(object, verifier, keyId: good).status == .ok)
    }
    let bad: [[UInt8]] = [
      [], Array(id.dropLast()), id + [0], Array(padded.dropLast()) + [0x41], padded + [0x0a],
      url.dropLast() + [0x2e], Hex.encode(id).dropLast() + [0x67],
      [UInt8](repeating: 0x41, count: 44), [UInt8](repeating: 0xff, count: 43),
    ]
    for text in bad {
      let document = try Fixture.attest(object, verifier, keyId: text)
      #expect(document.refusal == "malformed.attest.key-id key_id", "\(text.count)")
    }
    var other = id
    other[31] ^= 1
    let document = try Fixture.attest(object, verifier, keyId: other)
    #expect(document.refusal == "rejected.attest.key-id key_id")
    #expect(document.text("error.hint")?.hasPrefix("other-key: ") == true)
  }

  @Test("ATT-4 client data and its hash")
  func clientData() throws {
    let verifier = try Fixture.verifier()
    func name(_ kind: Int32, _ count: Int) throws -> String {
      let data = [UInt8](repeating: 0x61, count: count)
      let object = try Fixture.attestation { template in
        template.clientDataHash = kind == 1 ? Digest.sha256.of(data) : data
      }
      let input = ClientDataInput(kind: kind, bytes: data)
      return try Fixture.attest(object, verifier, clientData: input).name
    }
    #expect(try name(1, 1) == "ok")
    #expect(try name(1, 1 << 20) == "ok")
    #expect(try name(1, (1 << 20) + 1) == "too-large.attest.client-data")
    #expect(try name(1, 0) == "misuse.attest.client-data")
    for count in [16, 21, 24, 32, 64] { #expect(try name(2, count) == "ok") }
    for count in [0, 15, 65] { #expect(try name(2, count) == "misuse.attest.client-data") }
    for kind in [0, 3, -1] as [Int32] {
      #expect(try name(kind, 32) == "misuse.attest.client-data")
    }
    let odd = [UInt8](repeating: 0x62, count: 24)
    let object = try Fixture.attestation { $0.clientDataHash = odd }
    #expect(
      try Fixture.attest(object, verifier, clientData: .hash(odd)).warningIds
        == ["client-data-hash-length"])
    let hash = Digest.sha256.of(Fixture.clientData)
    #expect(
      try Fixture.attest(Fixture.attestation(), verifier, clientData: .hash(hash)).warningIds == [])
    // With a refusal, which it may explain; and for an assertion.
    for (data, warnings) in [
      (.hash(odd), ["client-data-hash-length"]), (.hash([UInt8](repeating: 1, count: 15)), []),
      (.hash([UInt8](repeating: 1, count: 32)), []), (.data(odd), []),
    ] as [(ClientDataInput, [String])] {
      let refused = try Fixture.attest(Fixture.attestation(), verifier, clientData: data)
      #expect(refused.status != .ok && refused.warningIds == warnings)
      let assertion = try Fixture.assert(Fixture.assertion(), verifier, clientData: data)
      #expect(assertion.status != .ok && assertion.warningIds == warnings)
    }
  }

  @Test("ATT-23 a verifier without any App ID refuses every call")
  func appIds() throws {
    let verifier = try Minted.verifier()
    let document = try Fixture.attest(try Fixture.attestation(), verifier)
    #expect(document.refusal == "config.attest.app-ids attest.appIds")
    #expect(
      try Fixture.assert(try Fixture.assertion(), verifier).name == "config.attest.app-ids")
  }

  @Test("JWS-41 now_ms outside 2008 … 2100")
  func now() throws {
    let object = try Fixture.attestation()
    for now in [0, .min, .max, 4_102_444_800_001] as [Int64] {
      #expect(try Fixture.attest(object, now: now).name == "misuse.call.now")
    }
  }

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

  @Test("ATT-11 two certificates, or the pinned root behind them")
  func chainLength() throws {
    let verifier = try Fixture.verifier()
    let root = try Fixture.authority().rootCertificate
    func refusal(
      _ change: @escaping @Sendable ([[UInt8]]) -> [[UInt8]]
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { $0.chain = change }, verifier).refusal
    }
    #expect(try refusal { $0 + [root] } == "ok ")
    #expect(try refusal { _ in [] } == "rejected.chain.length x5c")
    #expect(try refusal { Array($0.prefix(1)) } == "rejected.chain.length x5c")
    #expect(try refusal { $0 + [root, root] } == "rejected.chain.length x5c")
    #expect(try refusal { $0 + [$0[1]] } == "rejected.chain.length x5c[2]")
    #expect(try refusal { $0 + [root + [0]] } == "rejected.chain.length x5c[2]")
    #expect(
      try refusal { $0 + [[UInt8]](repeating: $0[1], count: 12) } == "rejected.chain.length x5c")
    #expect(
      try refusal { [$0[0], [UInt8](repeating: 0x30, count: 4097)] }
        == "too-large.chain.certificate x5c[1]")
    #expect(
      try refusal { [$0[0], [UInt8](repeating: 0x30, count: 4096)] }
        == "malformed.chain.der x5c[1]")
    #expect(try refusal { [[], $0[1]] } == "malformed.chain.der x5c[0]")
    #expect(try refusal { [$0[0] + [0], $0[1]] } == "malformed.chain.der x5c[0]")
    let typed = try Fixture.attestation {
      $0.statement = { $0.setting("x5c", .array([.text("x"), .text("y")])) }
    }
    #expect(try Fixture.attest(typed, verifier).refusal == "malformed.attest.statement x5c[0]")
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

  @Test("ATT-13 the length and layout of authenticator data")
  func authData() throws {
    let verifier = try Fixture.verifier()
    let status = "malformed.attest.auth-data"
    func refusal(
      _ change: (inout AuthenticatorDataTemplate) -> Void
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { change(&$0.authData) }, verifier).refusal
    }
    #expect(try refusal { $0.credential = nil } == status + " authData")
    #expect(try refusal { $0.credential?.idLength = 31 } == status + " authData/byte 53")
    #expect(try refusal { $0.credential?.idLength = 0xffff } == status + " authData/byte 53")
    #expect(try refusal { $0.trailing = [0] } == status + " authData/byte 229")
    #expect(
      try refusal { $0.trailing = [UInt8](repeating: 0, count: 1024) } == status + " authData")
    for count in [0, 1, 36, 37, 53, 55, 87, 163] {
      let short = try Fixture.attestation { template in
        template.sentAuthData = Array(template.authData.bytes.prefix(count))
      }
      #expect(try Fixture.attest(short, verifier).refusal == status + " authData")
    }
  }

  @Test("ATT-15 the extension map")
  func extensions() throws {
    let verifier = try Fixture.verifier()
    let bundle = "apple_bundle_version_01"
    let category = "apple_validation_category_01"
    func document(_ members: [CBORText.Member]) throws -> Document {
      try Fixture.attest(
        try Fixture.attestation { $0.authData.extensions = members }, verifier)
    }
    let spelt = try document([
      .init("bundleVersion", .text("1.2")), .init("validationCategory", .unsigned(4)),
    ])
    #expect(spelt.text("attestation.bundleVersion") == "1.2")
    #expect(spelt.integer("attestation.category") == 4)
    let unknown = try document([
      .init("x", .array([.unsigned(1), .text("a")])), .init(category, .bytes([4, 0, 0, 0])),
    ])
    #expect(unknown.text("attestation.otherExtensions.x") == "82016161")
    #expect(unknown.integer("attestation.category") == 4)
    #expect(try document([]).status == .ok)
    let many = (0..<8).map { CBORText.Member("k\($0)", .unsigned(1)) }
    #expect(try document(many).status == .ok)
    let status = "malformed.attest.extensions"
    let bad: [[CBORText.Member]] = [
      many + [.init("k8", .unsigned(1))],
      [.init(bundle, .unsigned(1))], [.init(bundle, .bytes([1]))],
      [.init(category, .bytes([4, 0, 0]))], [.init(category, .bytes([4, 0, 0, 0, 0]))],
      [.init(category, .text("4"))], [.init(category, .negative(3))],
      [.init(category, .unsigned(1 << 32))],
      [.init(category, .bytes([4, 0, 0, 0])), .init("validationCategory", .unsigned(4))],
      [.init(bundle, .text("1")), .init("bundleVersion", .text("1"))],
    ]
    for members in bad { #expect(try document(members).name == status) }
    #expect(
      try document([.init(.unsigned(1), .text("1"))]).refusal
        == "malformed.attest.cbor authData/byte 165")
    #expect(
      try document([.init("a", .raw([0xf5]))]).refusal
        == "malformed.attest.cbor authData/byte 167")
    let array = try Fixture.attestation {
      $0.authData.extensions = nil
      $0.authData.trailing = [0x80]
    }
    #expect(try Fixture.attest(array, verifier).name == status)
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

  @Test("checks 4 to 9: authenticator data of another key, app or environment")
  func authenticatorData() throws {
    let verifier = try Fixture.verifier()
    func refusal(
      _ change: (inout AuthenticatorDataTemplate) -> Void
    ) throws -> String {
      try Fixture.attest(try Fixture.attestation { change(&$0.authData) }, verifier).refusal
    }
    #expect(
      try refusal { $0.credential?.coseKey[20] ^= 1 }
        == "rejected.attest.cose-key authData/byte 87")
    #expect(
      try refusal { $0.credential?.coseKey[0] = 0xa4 }
        == "rejected.attest.cose-key authData/byte 87")
    #expect(try refusal { $0.rpIdHash[31] ^= 1 } == "rejected.attest.app-id authData/byte 0")
    #expect(try refusal { $0.counter = 1 } == "rejected.attest.counter authData/byte 33")
    #expect(
      try refusal { $0.counter = 0x0100_0000 } == "rejected.attest.counter authData/byte 33")
    #expect(
      try refusal { $0.credential?.id[0] ^= 1 }
        == "rejected.attest.credential-id authData/byte 55")
    for aaguid in ["appattestDEVELOP", "appattest1234567", "0000000000000000"] {
      #expect(
        try refusal { $0.credential?.aaguid = utf8(aaguid) }
          == "unsupported.attest.aaguid authData/byte 37")
    }
    let sandbox = try Fixture.attestation(try Fixture.device(.iOS27, .development)) {
      $0.authData.credential?.aaguid = utf8("appattestsandbox")
    }
    let development = try Fixture.verifier([("attest.environments", ["development"])])
    #expect(try Fixture.attest(sandbox, development).status == .ok)
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
    #expect(try Fixture.attest(object, verifier).name == "rejected.attest.cose-key")
    let other = try Fixture.attest(object, verifier, keyId: [UInt8](repeating: 0, count: 32))
    #expect(other.name == "rejected.attest.key-id")
    #expect(other.outcome("attest.cose-key") == "null")
  }

  @Test("ATT-23 several App IDs: the one that matched is reported")
  func severalAppIds() throws {
    let verifier = try Fixture.verifier([
      ("attest.appIds", ["ZZZZZ99999.com.example.other", .string(Fixture.appId)])
    ])
    let document = try Fixture.attest(try Fixture.attestation(), verifier)
    #expect(document.text("attestation.appId") == Fixture.appId)
    let other = try Fixture.device().with { $0.appId = "ZZZZZ99999.com.example.other" }
    #expect(
      try Fixture.attest(try Fixture.attestation(other), verifier).text("attestation.appId")
        == "ZZZZZ99999.com.example.other")
  }

  // MARK: time (ATT-40, ATT-41)

  @Test("ATT-40 live: certificates now, and a receipt that is fresh")
  func live() throws {
    let verifier = try Fixture.verifier()
    let object = try Fixture.attestation()
    func name(_ offset: Int64) throws -> String {
      try Fixture.attest(object, verifier, now: Fixture.now + offset).name
    }
    #expect(try name(300_000) == "ok")
    #expect(try name(300_001) == "rejected.freshness.stale")
    #expect(try name(-60_000) == "ok")
    #expect(try name(-60_001) == "rejected.date.future")
    #expect(try name(400 * 86_400_000) == "rejected.chain.expired")
    #expect(try name(-400 * 86_400_000) == "rejected.chain.not-yet-valid")
  }

  @Test("ATT-40 stored: certificates at the receipt's date")
  func stored() throws {
    let verifier = try Fixture.verifier([("attest.time", "stored")])
    let object = try Fixture.attestation()
    let later = Fixture.now + 400 * 86_400_000
    #expect(try Fixture.attest(object, verifier, now: later).status == .ok)
    let old = try Fixture.attestation {
      $0.changeReceiptFacts = { $0.created -= 400 * 86_400_000 }
    }
    #expect(
      try Fixture.attest(old, verifier).refusal == "rejected.chain.not-yet-valid x5c[0]")
    let ancient = try Fixture.attestation {
      $0.changeReceiptFacts = { $0.created = 0 }
    }
    #expect(try Fixture.attest(ancient, verifier).status != .ok)
    let junk = try Fixture.attestation { $0.receipt = [0x30, 0x80] }
    let document = try Fixture.attest(junk, verifier)
    #expect(document.status.family == .malformed)
    #expect(document.outcome("attest.receipt") == "false")
    #expect(document.outcome("chain") == "null")
    // What none of our authorities signed is refused for that, whatever its receipt.
    let foreign = try SigningKey.generate(.p384)
    let forged = try Fixture.attestation {
      $0.receipt = [0x30, 0x80]
      $0.leafSigner = foreign
    }
    #expect(
      try Fixture.attest(forged, verifier).refusal == "rejected.chain.signature-leaf x5c[0]")
  }

  // MARK: policy (§4.3, §4.4)

  @Test("ATT-45 the validation category")
  func category() throws {
    let standard = try Fixture.verifier()
    let shop = try Fixture.verifier([
      ("attest.category", ["accept": [4], "missing": "refuse"])
    ])
    func name(_ category: UInt32?, _ verifier: Verifier) throws -> String {
      let members = category.map {
        AuthenticatorDataTemplate.extensions(bundleVersion: "1", category: $0)
      }
      let object = try Fixture.attestation { $0.authData.extensions = members }
      return try Fixture.attest(object, verifier).name
    }
    for good in [1, 2, 3, 4, 5, 6, 10] as [UInt32] {
      #expect(try name(good, standard) == "ok")
    }
    for bad in [0, 7, 8, 9, 11, 0x0400_0000] as [UInt32] {
      #expect(try name(bad, standard) == "rejected.attest.category")
    }
    #expect(try name(nil, standard) == "ok")
    #expect(try name(4, shop) == "ok")
    #expect(try name(2, shop) == "rejected.attest.category")
    #expect(try name(nil, shop) == "rejected.attest.category-missing")
  }

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

  @Test("ATT-47, ATT-48 access control octets are required only of Macs")
  func accessControl() throws {
    let object = try Fixture.attestation(try Fixture.device(.macOS))
    let document = try Fixture.attest(object)
    #expect(document.refusal == "ok ")
    #expect(document.outcome("attest.acl") == "true")
    func mac(_ octets: [UInt8]?) throws -> AttestedDevice {
      try Fixture.device(.macOS).with { $0.system.accessControl = octets }
    }
    let phone = AttestLeafExtensions.phoneAccessControl
    for octets in [nil, phone, AttestLeafExtensions.macAccessControl + [0], []] as [[UInt8]?] {
      let reduced = try Fixture.attestation(try mac(octets))
      #expect(try Fixture.attest(reduced).refusal == "rejected.attest.acl x5c[0]")
      let unjudged = try Fixture.verifier([("attest.platform", "ios")])
      #expect(try Fixture.attest(reduced, unjudged).status == .ok)
    }
    let macs = try Fixture.verifier([("attest.platform", "macos")])
    #expect(try Fixture.attest(try Fixture.attestation(), macs).name == "rejected.attest.acl")
    #expect(try Fixture.attest(object, macs).status == .ok)
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

  @Test("ATT-22 another common name is a warning")
  func commonName() throws {
    let object = try Fixture.attestation {
      $0.leaf.subject = try Fixture.authority().intermediate.subject
    }
    let document = try Fixture.attest(object)
    #expect(document.status == .ok)
    #expect(document.warningIds == ["leaf-common-name"])
  }

  // MARK: challenge (ASR-10)

  @Test("ASR-10 where the challenge is")
  func challenge() throws {
    func verify(_ policy: JSONText, _ data: ClientDataInput = .data(Fixture.clientData)) throws
      -> Document
    {
      try Fixture.attest(
        try Fixture.attestation(clientData: Fixture.clientData),
        try Fixture.verifier([("attest.challenge", policy)]), clientData: data)
    }
    func sha(_ bytes: [UInt8]) -> String {
      String(decoding: Hex.encode(Digest.sha256.of(bytes)), as: UTF8.self)
    }
    let text = utf8("bm90IHJhbmRvbSBhdCBhbGw")
    let path = "attestation.challenge.sha256"
    #expect(try verify(["mode": "whole"]).text(path) == sha(Fixture.clientData))
    #expect(try verify(["mode": "host"]).text("attestation.challenge") == "unchecked")
    #expect(try verify(["mode": "json", "path": "challenge"]).text(path) == sha(text))
    #expect(
      try verify(["mode": "json", "path": "challenge", "encoding": "base64url"]).text(path)
        == sha(utf8("not random at all")))
    let hash = ClientDataInput.hash(Digest.sha256.of(Fixture.clientData))
    for mode in [["mode": "whole"], ["mode": "json", "path": "challenge"]] as [JSONText] {
      let document = try verify(mode, hash)
      #expect(document.text("attestation.challenge") == "unchecked")
      #expect(document.outcome("attest.challenge") == "null")
    }
    let missing: [JSONText] = [
      ["mode": "json", "path": "other"], ["mode": "json", "path": "challenge.inner"],
      ["mode": "json", "path": "amount"],
      ["mode": "json", "path": "challenge", "encoding": "hex"],
      ["mode": "json", "path": "challenge", "encoding": "base64"],
    ]
    for policy in missing {
      let document = try verify(policy)
      #expect(document.name == "malformed.attest.client-data")
      #expect(document.outcome("attest.receipt") == "true")
      #expect(document.outcome("attest.challenge") == "false")
    }
  }
}
