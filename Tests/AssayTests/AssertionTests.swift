import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// Tests assertions that are good but for one thing (ASR-1 … ASR-10).
@Suite("Assertions")
struct AssertionTests {
  @Test("a good assertion, its facts and its checks")
  func good() throws {
    let document = try Fixture.assert(try Fixture.assertion())
    for id in AssertionCheck.ids {
      let expected = ["assertion.bundle-version", "assertion.challenge"]
      checkEqual(
        document.outcome("\(id)"), (expected.contains("\(id)") ? "null" : "true"), "\(id)")
    }
  }

  @Test("ATT-3 the public key as point and as SubjectPublicKeyInfo")
  func publicKey() throws {
    let object = try Fixture.assertion()
    let verifier = try Fixture.verifier()
    let device = try Fixture.device()
    let info = try device.key.publicKeyInfo()
    checkEqual(info.count, 91)
    try checkEqual(Fixture.assert(object, verifier, publicKey: info).status, .ok)
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
      try checkEqual(
        Fixture.assert(object, verifier, publicKey: key).refusal,
        "misuse.assertion.public-key public_key")
    }
    for point in [Array(device.point.dropLast()), device.point + [0], compressed] {
      check(AttestedKey.point(point) == nil)
    }
    let other = try SigningKey.generate(.p256).publicKey()
    try checkEqual(
      Fixture.assert(object, verifier, publicKey: other).refusal,
      "rejected.assertion.signature signature")
  }

  @Test("ATT-3 ASR-1 ASR-3 ASR-6 the place and the message of a refusal")
  func places() throws {
    let verifier = try Fixture.verifier()
    let object = try Fixture.assertion()
    try checkEqual(
      Fixture.assert(object, verifier, publicKey: []).refusal,
      "misuse.assertion.public-key public_key")
    try checkEqual(Fixture.assert([], verifier).refusal, "malformed.assertion.cbor byte 0")
    try checkEqual(
      Fixture.assert(CBORText.bytes([1]).encoded, verifier).refusal,
      "malformed.assertion.statement byte 0")
    let trailing = try Fixture.assertion { $0.authData.trailing = [0] }
    try checkEqual(
      Fixture.assert(trailing, verifier).refusal,
      "malformed.assertion.auth-data authenticatorData/byte 102")
    let other = try SigningKey.generate(.p256).publicKey()
    try checkEqual(
      Fixture.assert(object, verifier, publicKey: other).refusal,
      "rejected.assertion.signature signature")
    let repeated = try Fixture.assert(try Fixture.assertion(counter: 5), counter: 9)
    checkEqual(repeated.text("error.message")?.hasSuffix("sent 5, stored 9"), true)
  }

  @Test("ASR-5 another app")
  func appId() throws {
    let other = try Fixture.device().with { $0.appId = "ABCDE12345.com.example.other" }
    let document = try Fixture.assert(try Fixture.assertion(other))
    checkEqual(document.refusal, "rejected.assertion.app-id authenticatorData/byte 0")
    checkEqual(document.outcome("assertion.signature"), "true")
  }

  @Test("ASR-10 a challenge in wide client data, and in nested ones")
  func challenge() throws {
    let json = try Fixture.verifier([
      (
        "attest.challenge",
        ["mode": "json", "path": "challenge", "encoding": "base64url"]
      )
    ])
    // An app's own request may have more elements and members than evidence.
    let items = (0..<5000).map { String($0) }.joined(separator: ",")
    let members = (0..<500).map { "\"m\($0)\":0" }.joined(separator: ",")
    let wide = utf8("{\"items\":[\(items)],\"o\":{\(members)},\"challenge\":\"YQ\"}")
    try checkEqual(
      Fixture.assert(
        try Fixture.assertion(clientData: wide), json, clientData: .data(wide)
      ).name, "ok")
    let nested = try Fixture.verifier([
      ("attest.challenge", ["mode": "json", "path": "a.b.c", "encoding": "hex"])
    ])
    let data = utf8("{\"a\":{\"b\":{\"c\":\"00Ff\"}}}")
    try checkEqual(
      Fixture.assert(
        try Fixture.assertion(clientData: data), nested, clientData: .data(data)
      ).text("assertion.challenge.sha256").map { utf8($0) },
      Hex.encode(Digest.sha256.of([0x00, 0xff])))
  }

  @Test("DIA-1 every variant is named for hashes, and two at once for data")
  func diagnosis() throws {
    let verifier = try Fixture.verifier()
    let text = utf8("a challenge? 0123456789~~")
    let hash = Digest.sha256.of(text)
    func hint(signed: [UInt8], given: ClientDataInput) throws -> String? {
      let object = try Fixture.assertion { $0.clientDataHash = signed }
      let document = try Fixture.assert(object, verifier, clientData: given)
      checkEqual(document.name, "rejected.assertion.signature")
      return document.text("error.hint")?.split(separator: ":").first.map { String($0) }
    }
    func sha(_ bytes: [UInt8]) -> [UInt8] { Digest.sha256.of(bytes) }
    let cases: [(signed: [UInt8], given: ClientDataInput, hint: String)] = [
      (hash, .data([0x22] + text + [0x22, 0x0a]), "trim"),
      (sha([0x22] + text + [0x22]), .data([0x22] + text + [0x22, 0x0a]), "trim"),
      (hash, .hash(Hex.encode(hash)), "decode-hex"),
      (hash, .hash(Base64.encodeStandard(hash)), "decode-base64"),
      (Base64.encodeStandard(hash), .hash(hash), "encode-base64"),
      (Hex.encode(hash), .hash(hash), "encode-hex"), (hash, .hash(hash + [0x0a]), "trim"),
      (sha(sha(hash)), .hash(hash), "double-hash"),
    ]
    for entry in cases {
      try checkEqual(hint(signed: entry.signed, given: entry.given), entry.hint)
    }
    for (signed, given) in [
      ([1], text), ([], [0x22]), (text.dropLast(), [0x22] + text),
      (Array(text.dropFirst()), text + [0x22]),
    ] as [([UInt8], [UInt8])] {
      let plain = try hint(signed: sha(signed), given: .data(given))
      checkEqual(plain?.hasPrefix("the key record"), true)
    }
    // Client data that another app signed gets no hint (DIA-4).
    let other = try Fixture.device().with { $0.appId = "ABCDE12345.com.example.other" }
    let object = try Fixture.assertion(other) { $0.clientDataHash = text }
    let document = try Fixture.assert(object, verifier, clientData: .data(text))
    checkEqual(document.text("error.hint")?.hasPrefix("the key record"), true)
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
      check(hint == nil)
      // Each nonce costs one hash, each variant but the first one more.
      check(nonces + (nonces - 1) + 1 <= 12)
    }
    // Longer data are not re-encoded: as a hash, without the LF, and hashed twice remain.
    for (count, expected) in [(65_535, 5), (65_536, 3)] {
      var calls = 0
      let long = try ClientData(.data([UInt8](repeating: 0x61, count: count) + [0x0a]))
      check(
        AttestDiagnosis.hint(long) { _ in
          calls += 1
          return false
        } == nil)
      checkEqual(calls, expected)
    }
  }
}
