import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// ASR-1 … ASR-10: assertions that are good but for one thing.
@Suite("Assertions")
struct AssertionTests {
  @Test("a good assertion, its facts and its checks")
  func good() throws {
    let document = try Fixture.assert(try Fixture.assertion())
    #expect(document.refusal == "ok ")
    #expect(document.text("kind") == "assertion")
    #expect(document.text("assertion.appId") == Fixture.appId)
    #expect(document.integer("assertion.counter") == 7)
    #expect(document.integer("assertion.previousCounter") == 6)
    #expect(document.integer("assertion.flags") == 0xc0)
    #expect(document.integer("assertion.category") == 4)
    #expect(document.text("assertion.bundleVersion") == "1314")
    #expect(document.text("assertion.nonce")?.count == 64)
    #expect(document.text("assertion.challenge") == "unchecked")
    for id in AssertionCheck.ids {
      let expected = ["assertion.bundle-version", "assertion.challenge"]
      #expect(
        document.outcome("\(id)") == (expected.contains("\(id)") ? "null" : "true"), "\(id)")
    }
  }

  @Test("ATT-3 the public key as point and as SubjectPublicKeyInfo")
  func publicKey() throws {
    let object = try Fixture.assertion()
    let verifier = try Fixture.verifier()
    let device = try Fixture.device()
    let info = try device.key.publicKeyInfo()
    #expect(info.count == 91)
    #expect(try Fixture.assert(object, verifier, publicKey: info).status == .ok)
    var offCurve = device.point
    offCurve[64] ^= 1
    var compressed = device.point
    compressed[0] = 0x02
    var otherInfo = info
    otherInfo[22] = 0x08
    let bad: [[UInt8]] = [
      [], Array(device.point.dropLast()), device.point + [0], offCurve, compressed, otherInfo,
      Array(info.dropFirst()), device.keyId, try SigningKey.generate(.p384).publicKeyInfo(),
      [UInt8](repeating: 0, count: 65), [0x04] + [UInt8](repeating: 0xff, count: 64),
    ]
    for key in bad {
      #expect(
        try Fixture.assert(object, verifier, publicKey: key).refusal
          == "misuse.assertion.public-key public_key")
    }
    for point in [Array(device.point.dropLast()), device.point + [0], compressed] {
      #expect(AttestedKey.point(point) == nil)
    }
    let other = try SigningKey.generate(.p256).publicKey()
    #expect(
      try Fixture.assert(object, verifier, publicKey: other).refusal
        == "rejected.assertion.signature signature")
  }

  @Test("ASR-1 size and members")
  func form() throws {
    let verifier = try Fixture.verifier()
    #expect(try Fixture.assert([], verifier).refusal == "malformed.assertion.cbor byte 0")
    let long = [UInt8](repeating: 0, count: 4096)
    #expect(try Fixture.assert(long, verifier).name == "malformed.assertion.cbor")
    #expect(try Fixture.assert(long + [0], verifier).name == "too-large.assertion.object")
    let status = "malformed.assertion.statement"
    func name(
      _ change: @escaping @Sendable ([CBORText.Member]) -> [CBORText.Member]
    ) throws -> String {
      try Fixture.assert(try Fixture.assertion { $0.object = change }, verifier).name
    }
    #expect(try name { $0.reversed() } == "ok")
    for member in ["signature", "authenticatorData"] {
      #expect(try name { $0.removing(member) } == status)
      #expect(try name { $0.setting(member, .text("x")) } == status)
    }
    #expect(try name { $0.setting("keyId", .bytes([])) } == status)
    #expect(
      try name { $0 + [.init(.unsigned(1), .bytes([]))] } == "malformed.assertion.cbor")
    #expect(try name { $0 + [$0[1]] } == "malformed.assertion.cbor")
    #expect(
      try Fixture.assert(CBORText.bytes([1]).encoded, verifier).refusal == status + " byte 0")
    #expect(
      try Fixture.assert(try Fixture.assertion() + [0], verifier).name
        == "malformed.assertion.cbor")
  }

  @Test("ASR-1, ASR-2 authenticator data: no flag leads anywhere")
  func authData() throws {
    let verifier = try Fixture.verifier()
    for flags in [0x00, 0x40, 0x80, 0xc0, 0xff] as [UInt8] {
      for system in [AttestedDevice.System.iOS18, .iOS27] {
        let object = try Fixture.assertion(try Fixture.device(system)) {
          $0.authData.flags = flags
        }
        let document = try Fixture.assert(object, verifier)
        #expect(document.status == .ok)
        #expect(document.integer("assertion.flags") == Int64(flags))
      }
    }
    let status = "malformed.assertion.auth-data authenticatorData"
    for count in [0, 1, 36] {
      let object = try Fixture.assertion { template in
        template.sentAuthData = Array(template.authData.bytes.prefix(count))
      }
      #expect(try Fixture.assert(object, verifier).refusal == status)
    }
    let long = try Fixture.assertion {
      $0.authData.trailing = [UInt8](repeating: 0, count: 1024)
    }
    #expect(try Fixture.assert(long, verifier).refusal == status)
    let trailing = try Fixture.assertion { $0.authData.trailing = [0] }
    #expect(try Fixture.assert(trailing, verifier).refusal == status + "/byte 102")
  }

  @Test("ASR-3 what is signed is the nonce as a message")
  func signature() throws {
    let refused = "rejected.assertion.signature signature"
    let once = try Fixture.assertion { template in
      let device = template.device
      let nonce = Digest.sha256.of(template.authData.bytes + template.clientDataHash)
      // Signed as if it were the digest: the message is what was hashed to it.
      let text = template.authData.bytes + template.clientDataHash
      template.message = { $0 == nonce ? text : $0 }
      template.signer = device.key
    }
    #expect(try Fixture.assert(once).refusal == refused)
    let foreign = try SigningKey.generate(.p256)
    #expect(try Fixture.assert(try Fixture.assertion { $0.signer = foreign }).refusal == refused)
    let moved = try Fixture.assertion { template in
      var sent = template.authData
      sent.counter = 99
      template.sentAuthData = sent.bytes
    }
    #expect(try Fixture.assert(moved).refusal == refused)
    #expect(
      try Fixture.assert(try Fixture.assertion(), clientData: .data(utf8("x"))).refusal == refused)
  }

  @Test("ASR-4 strict DER with r and s in range; high s is no fault")
  func signatureForm() throws {
    let verifier = try Fixture.verifier()
    func name(_ change: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws -> String {
      try Fixture.assert(try Fixture.assertion { $0.signature = change }, verifier).name
    }
    let order = Curve.p256.order
    #expect(
      try name { der in
        // (r, n − s) verifies too: the signature is not an idempotency key.
        var numbers = try AssayAuthority.ECDSASignature(der: der)
        numbers.s = AssertionTests.difference(order, numbers.s)
        return numbers.der
      } == "ok")
    let malformed = "malformed.assertion.signature"
    #expect(try name { $0 + [0] } == malformed)
    #expect(try name { Array($0.dropLast()) } == malformed)
    #expect(try name { _ in [] } == malformed)
    #expect(try name { [0x30, 0x81] + $0.dropFirst() } == malformed)
    #expect(try name { _ in [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x01] } == malformed)
    #expect(try name { _ in [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x81] } == malformed)
    #expect(
      try name { _ in [0x30, 0x07, 0x02, 0x02, 0x00, 0x01, 0x02, 0x01, 0x01] } == malformed)
    #expect(
      try name { _ in
        [0x30, 0x26, 0x02, 0x21, 0x00] + order + [0x02, 0x01, 0x01]
      } == malformed)
    #expect(
      try name { _ in [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01] }
        == "rejected.assertion.signature")
  }

  /// left − right of two numbers, big-endian, left being the longer one.
  private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    let padded = [UInt8](repeating: 0, count: Swift.max(left.count - right.count, 0)) + right
    var borrow = 0
    var result: [UInt8] = []
    for (mine, theirs) in zip(left.reversed(), padded.suffix(left.count).reversed()) {
      let digit = Int(mine) - Int(theirs) - borrow
      borrow = digit < 0 ? 1 : 0
      result.append(UInt8(truncatingIfNeeded: digit))
    }
    return Array(result.reversed().drop { $0 == 0 })
  }

  @Test("ASR-5 another app")
  func appId() throws {
    let other = try Fixture.device().with { $0.appId = "ABCDE12345.com.example.other" }
    let document = try Fixture.assert(try Fixture.assertion(other))
    #expect(document.refusal == "rejected.assertion.app-id authenticatorData/byte 0")
    #expect(document.outcome("assertion.signature") == "true")
  }

  @Test("ASR-6 the counter is greater, as 32 bits without sign")
  func counter() throws {
    let verifier = try Fixture.verifier()
    func name(_ sent: UInt32, _ stored: UInt32) throws -> String {
      try Fixture.assert(
        try Fixture.assertion(counter: sent), verifier, counter: stored
      ).name
    }
    let refused = "rejected.assertion.counter"
    #expect(try name(1, 0) == "ok")
    #expect(try name(1000, 1) == "ok")
    #expect(try name(UInt32.max, UInt32.max - 1) == "ok")
    #expect(try name(0x8000_0000, 0x7fff_ffff) == "ok")
    #expect(try name(0, 0) == refused)
    #expect(try name(7, 7) == refused)
    #expect(try name(6, 7) == refused)
    #expect(try name(0, UInt32.max) == refused)
    #expect(try name(UInt32.max, UInt32.max) == refused)
    let document = try Fixture.assert(try Fixture.assertion(counter: 5), counter: 9)
    #expect(document.text("error.message")?.hasSuffix("sent 5, stored 9") == true)
  }

  @Test("ASR-8 category and bundle version, as for attestations")
  func policy() throws {
    func name(_ members: [CBORText.Member]?, _ changes: [(String, JSONText)]) throws -> String {
      let object = try Fixture.assertion { $0.authData.extensions = members }
      return try Fixture.assert(object, try Fixture.verifier(changes)).name
    }
    func sent(_ version: String, _ category: UInt32) -> [CBORText.Member] {
      AuthenticatorDataTemplate.extensions(bundleVersion: version, category: category)
    }
    let shop: [(String, JSONText)] = [
      ("attest.category", ["accept": [4], "missing": "refuse"])
    ]
    #expect(try name(sent("1", 4), shop) == "ok")
    #expect(try name(sent("1", 3), shop) == "rejected.assertion.category")
    #expect(try name(nil, shop) == "rejected.assertion.category-missing")
    #expect(try name(sent("1", 0), []) == "rejected.assertion.category")
    let build: [(String, JSONText)] = [("attest.bundleVersion", ["minimum": "10"])]
    #expect(try name(sent("10", 4), build) == "ok")
    #expect(try name(sent("9", 4), build) == "rejected.assertion.bundle-version")
    #expect(try name(nil, build) == "ok")
    #expect(
      try name([.init("bundleVersion", .unsigned(1))], []) == "malformed.assertion.extensions")
    #expect(try name([.init("a", .raw([0xf6]))], []) == "malformed.assertion.cbor")
  }

  @Test("ASR-10 where the challenge is")
  func challenge() throws {
    let object = try Fixture.assertion()
    let json = try Fixture.verifier([
      (
        "attest.challenge",
        ["mode": "json", "path": "challenge", "encoding": "base64url"]
      )
    ])
    let digest = Hex.encode(Digest.sha256.of(utf8("not random at all")))
    #expect(
      try Fixture.assert(object, json).text("assertion.challenge.sha256").map { utf8($0) }
        == digest)
    let other = utf8("no json")
    let plain = try Fixture.assertion(clientData: other)
    #expect(
      try Fixture.assert(plain, json, clientData: .data(other)).name
        == "malformed.assertion.client-data")
    for text in [
      "{\"challenge\":\"\"}", "{\"challenge\":null}", "{\"challenge\":\"a b\"}", "[]",
      "{\"challenge\":\"YQ\",\"challenge\":\"YQ\"}", "{\"x\":{\"challenge\":\"YQ\"}}",
    ] {
      let data = utf8(text)
      #expect(
        try Fixture.assert(
          try Fixture.assertion(clientData: data), json, clientData: .data(data)
        ).name == "malformed.assertion.client-data", "\(text)")
    }
    // A request of the app's own may hold more than evidence does.
    let items = (0..<5000).map { String($0) }.joined(separator: ",")
    let members = (0..<500).map { "\"m\($0)\":0" }.joined(separator: ",")
    let wide = utf8("{\"items\":[\(items)],\"o\":{\(members)},\"challenge\":\"YQ\"}")
    #expect(
      try Fixture.assert(
        try Fixture.assertion(clientData: wide), json, clientData: .data(wide)
      ).name == "ok")
    let nested = try Fixture.verifier([
      ("attest.challenge", ["mode": "json", "path": "a.b.c", "encoding": "hex"])
    ])
    let data = utf8("{\"a\":{\"b\":{\"c\":\"00Ff\"}}}")
    #expect(
      try Fixture.assert(
        try Fixture.assertion(clientData: data), nested, clientData: .data(data)
      ).text("assertion.challenge.sha256").map { utf8($0) }
        == Hex.encode(Digest.sha256.of([0x00, 0xff])))
  }

  @Test("DIA-1 every variant is named, for data and for hashes")
  func diagnosis() throws {
    let verifier = try Fixture.verifier()
    let text = utf8("a challenge? 0123456789~~")
    let hash = Digest.sha256.of(text)
    func hint(signed: [UInt8], given: ClientDataInput) throws -> String? {
      let object = try Fixture.assertion { $0.clientDataHash = signed }
      let document = try Fixture.assert(object, verifier, clientData: given)
      #expect(document.name == "rejected.assertion.signature")
      return document.text("error.hint")?.split(separator: ":").first.map { String($0) }
    }
    func sha(_ bytes: [UInt8]) -> [UInt8] { Digest.sha256.of(bytes) }
    let base64 = Base64.encodeStandard(text)
    let url = base64.filter { $0 != 0x3d }.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 }
    let cases: [(signed: [UInt8], given: ClientDataInput, hint: String)] = [
      (text, .data(text), "data-is-hash"), (sha(hash), .hash(hash), "hash-is-data"),
      (hash, .data(base64), "decode-base64"), (hash, .data(url), "decode-base64"),
      (sha(base64), .data(text), "encode-base64"),
      (hash, .data(Hex.encode(text)), "decode-hex"),
      (sha(Hex.encode(text)), .data(text), "encode-hex"),
      (hash, .data([0x22] + text + [0x22]), "trim"), (hash, .data(text + [0x0a]), "trim"),
      (hash, .data(text + [0x00]), "trim"), (sha(hash), .data(text), "double-hash"),
      (hash, .data([0x22] + text + [0x22, 0x0a]), "trim"),
      (sha([0x22] + text + [0x22]), .data([0x22] + text + [0x22, 0x0a]), "trim"),
      (hash, .hash(Hex.encode(hash)), "decode-hex"),
      (hash, .hash(Base64.encodeStandard(hash)), "decode-base64"),
      (Base64.encodeStandard(hash), .hash(hash), "encode-base64"),
      (Hex.encode(hash), .hash(hash), "encode-hex"), (hash, .hash(hash + [0x0a]), "trim"),
      (sha(sha(hash)), .hash(hash), "double-hash"),
    ]
    for entry in cases {
      #expect(try hint(signed: entry.signed, given: entry.given) == entry.hint)
    }
    for (signed, given) in [
      ([1], text), ([], [0x22]), (text.dropLast(), [0x22] + text),
      (Array(text.dropFirst()), text + [0x22]),
    ] as [([UInt8], [UInt8])] {
      let plain = try hint(signed: sha(signed), given: .data(given))
      #expect(plain?.hasPrefix("the key record") == true)
    }
    // DIA-4: what another app made gets no hint.
    let other = try Fixture.device().with { $0.appId = "ABCDE12345.com.example.other" }
    let object = try Fixture.assertion(other) { $0.clientDataHash = text }
    let document = try Fixture.assert(object, verifier, clientData: .data(text))
    #expect(document.text("error.hint")?.hasPrefix("the key record") == true)
  }

  @Test("DIA-4 at most 12 hashes")
  func cost() throws {
    // Every variant applies to such data, and none fits.
    for data in [utf8("abcdef12"), utf8("\"abcd\"\n")] {
      var nonces = 0
      let client = try ClientData(.data(data))
      let hint = AttestDiagnosis.hint(client) { _ in
        nonces += 1
        return false
      }
      #expect(hint == nil)
      // One hash for each nonce, one for each variant but the first.
      #expect(nonces + (nonces - 1) + 1 <= 12)
    }
    // Longer data are not re-encoded: as a hash, without the LF, twice.
    for (count, expected) in [(65_535, 5), (65_536, 3)] {
      var calls = 0
      let long = try ClientData(.data([UInt8](repeating: 0x61, count: count) + [0x0a]))
      #expect(
        AttestDiagnosis.hint(long) { _ in
          calls += 1
          return false
        } == nil)
      #expect(calls == expected)
    }
  }
}
