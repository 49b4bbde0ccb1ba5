import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// ASR-1 … ASR-10: assertions that are good but for one thing.
@Suite("Assertions")
struct AssertionTests {
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
