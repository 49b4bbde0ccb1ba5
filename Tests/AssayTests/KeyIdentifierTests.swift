import AssayAuthority
import Testing

@testable import Assay

/// Tests that a key id has one normal form (ATT-2).
@Suite("Key identifiers")
struct KeyIdentifierTests {
  /// Returns the four forms in which an app may send a key id.
  private static func forms(_ octets: [UInt8]) -> [[UInt8]] {
    let standard = Base64.encodeStandard(octets)
    let hex = octets.flatMap { Array(String(UInt16($0) + 256, radix: 16).utf8.dropFirst()) }
    return [
      standard, standard.dropLast().map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 }, hex,
      hex.map { $0 >= 0x61 ? $0 - 0x20 : $0 },
    ]
  }

  private static let octets: [[UInt8]] = [
    [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32),
    (0..<32).map { UInt8($0 * 8 + 3) }, (0..<32).map { UInt8(251 - $0 * 7) },
  ]

  @Test("ATT-2 every form of a key identifier has one normal form", arguments: octets)
  func normal(octets: [UInt8]) throws {
    let normal = Base64.encodeStandard(octets)
    checkEqual(normal.count, 44)
    for form in Self.forms(octets) {
      try checkEqual(KeyIdentifier.normalForm(of: form), normal)
      try checkEqual(KeyIdentifier.read(form), octets)
      let document = try Exchanges.run([
        "operation": "normalize-key-id", "keyId": .string(String(decoding: form, as: UTF8.self)),
      ])
      Exchanges.expect(document, "ok")
      checkEqual(document.text("exchange.keyId"), String(decoding: normal, as: UTF8.self))
      checkEqual(document.text("exchange.operation"), "normalize-key-id")
      check(document.evidence == nil)
    }
    try checkEqual(KeyIdentifier.read(octets), octets)
  }

  @Test("ATT-2 it is what the document of an attestation has")
  func ofDocument() throws {
    let document = try AttestFixture.attest(try AttestFixture.attestation())
    let keyId = try require(document.text("attestation.keyId"))
    try checkEqual(KeyIdentifier.normalForm(of: Array(keyId.utf8)), Array(keyId.utf8))
  }

  @Test("ATT-2 another text is refused, of whatever length")
  func other() throws {
    for count in 0...100 {
      for character in ["A", "=", "!", "a", "-"] {
        let text = String(repeating: character, count: count)
        let isForm = character == "a" || character == "A"
        guard !(isForm && count == 64), !(isForm && count == 43) else { continue }
        #expect(throws: Refusal(.malformedAttestKeyId, "ATT-2")) {
          try KeyIdentifier.normalForm(of: Array(text.utf8))
        }
        Exchanges.expect(
          try Exchanges.run(["operation": "normalize-key-id", "keyId": .string(text)]),
          "malformed.attest.key-id", at: "keyId", rule: "ATT-2")
      }
    }
  }
}
