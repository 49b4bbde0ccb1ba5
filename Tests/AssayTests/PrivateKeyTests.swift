import AssayAuthority
import Testing

@testable import Assay

private typealias Pair = Assay.ECDSASignature

/// Tests signing keys, random numbers and message codes (EXC-10, EXC-23, API-12).
@Suite("Private keys")
struct PrivateKeyTests {
  private func made() throws -> (PrivateKey, SigningKey) {
    let key = try SigningKey.generate(.p256)
    return (try require(PrivateKeyFile.read(try key.pem())), key)
  }

  @Test("API-12 a signature verifies, under the public half alone")
  func signs() throws {
    let (key, authority) = try made()
    let info = try authority.publicKeyInfo()
    for count in [0, 1, 63, 64, 65, 5000] {
      let message = [UInt8](repeating: 0x61, count: count)
      let signature = try key.sign(message)
      check(SignaturesTests.evpVerifies(info, .sha256, message, signature.der))
      check(!SignaturesTests.evpVerifies(info, .sha256, message + [1], signature.der))
    }
    let other = try SigningKey.generate(.p256).publicKeyInfo()
    check(!SignaturesTests.evpVerifies(other, .sha256, [1], try key.sign([1]).der))
  }

  @Test("API-12 r and s have 32 octets each, whatever their values")
  func concatenated() throws {
    let (key, _) = try made()
    for number in 0..<50 as Range<UInt8> {
      let signature = try key.sign([number])
      let octets = signature.concatenated(.p256)
      checkEqual(octets.count, 64)
      checkEqual(Pair(concatenated: octets, .p256)?.der, signature.der)
    }
    // One number in 256 begins with a zero byte.
    for zeros in [0, 1, 2, 31] {
      for first in [1, 0x80] as [UInt8] {
        let number = [UInt8](repeating: 0, count: zeros) + [first]
        let half = number + [UInt8](repeating: 7, count: 31 - zeros)
        let pair = try require(Pair(concatenated: half + half, .p256))
        checkEqual(pair.concatenated(.p256), half + half)
      }
    }
  }

  @Test("API-12 the same message is signed anew each time")
  func random() throws {
    let (key, _) = try made()
    checkEqual(Set(try (0..<50).map { _ in try key.sign([7]).der }).count, 50)
  }

  @Test("EXC-10 a signature that does not verify is not used")
  func selfCheck() throws {
    let (key, authority) = try made()
    let (other, _) = try made()
    let message = utf8("message")
    let good = try authority.sign(message, .sha256)
    try checkEqual(
      PrivateKey.verified(good, over: message, by: key.publicHalf).der, good)
    var turned = good
    turned[turned.count - 1] ^= 1
    for (der, half) in [
      (good, other.publicHalf), (turned, key.publicHalf), ([], key.publicHalf),
      (good + [0], key.publicHalf),
    ] {
      #expect(throws: Refusal(.internalSignSelfCheck, "EXC-10")) {
        _ = try PrivateKey.verified(der, over: message, by: half)
      }
    }
    #expect(throws: Refusal(.internalSignSelfCheck, "EXC-10")) {
      _ = try PrivateKey.verified(good, over: utf8("other"), by: key.publicHalf)
    }
  }

  @Test("EXC-23 random UUIDs are of version 4, and differ")
  func uuids() throws {
    let made = try (0..<200).map { _ in try RandomUUID.make() }
    checkEqual(Set(made).count, 200)
    for uuid in made {
      check(uuid.isUUID && uuid == uuid.asciiLowercased)
      check(uuid.utf8[14] == 0x34 && [0x38, 0x39, 0x61, 0x62].contains(uuid.utf8[19]))
    }
  }

  @Test("SES-3 message codes as RFC 4231 and libcrypto have them")
  func codes() throws {
    func code(_ key: [UInt8], _ message: [UInt8]) -> String {
      String(
        decoding: Hex.encode(MessageCode.of(key: SecretBytes(key), head: "", message[...])),
        as: UTF8.self)
    }
    checkEqual(
      code([UInt8](repeating: 0x0b, count: 20), utf8("Hi There")),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    checkEqual(
      code(utf8("Jefe"), utf8("what do ya want for nothing?")),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    for count in [1, 32, 63, 64] {
      let key = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
      let body = [UInt8](repeating: 9, count: count * 5)
      try checkEqual(
        SessionTokenTemplate.code(key, utf8("head") + body),
        MessageCode.of(key: SecretBytes(key), head: "head", body[...]))
    }
  }

  @Test("API-12 base64url without padding")
  func base64url() {
    for count in 0..<40 {
      let octets = (0..<count).map { UInt8(truncatingIfNeeded: 0xfb &+ $0 &* 13) }
      checkEqual(Base64.encodeURL(octets), Base64Text.encodeURL(octets))
    }
  }

  @Test("SIG-3 control characters")
  func controlCharacters() {
    for scalar in 0...0x2ff as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(scalar) else { continue }
      checkEqual(
        Text("a\(scalar)b").hasControlCharacter, (scalar.properties.generalCategory == .control))
    }
  }
}
