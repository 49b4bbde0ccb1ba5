import AssayAuthority
import Testing

@testable import Assay

/// Makes inputs that crash other libraries, beyond those of the case table: numbers beyond every
/// integer. Each must get a document, and the process must survive.
private struct HostileFixture: Sendable {
  /// 2026-11-21 UTC.
  static let instant: Int64 = 1_795_219_200_000
  static let made = Result { try HostileFixture() }

  let authority: Authority
  let standard: Verifier

  static var purchase: Purchase { Purchase(now: instant) }

  static func config(_ authority: Authority) -> JSONText {
    [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": [
          "plan": "premium", "type": "auto-renewable", "group": "main",
        ]
      ],
      "storekit": ["anchors": [.string(authority.anchor)]],
    ]
  }

  init() throws {
    authority = try Authority(now: HostileFixture.instant)
    let config = HostileFixture.config(authority)
    standard = try require(Verifier.alone(config.bytes).verifier)
  }

  /// Returns the good transaction, signed, with one member's value as raw text.
  func signed(_ member: String, _ value: String) throws -> [UInt8] {
    try authority.mint(HostileFixture.purchase.transactionPayload.setting(member, .text(value)))
  }

  /// Returns a good header over any payload, with an invalid signature.
  func unsigned(_ payload: String) throws -> [UInt8] {
    let good = try authority.mint(HostileFixture.purchase.transactionPayload)
    var text: [UInt8] = Array(good.prefix { $0 != 0x2e })
    text.append(0x2e)
    text += Base64Text.encodeURL(Array(payload.utf8))
    text.append(0x2e)
    text += Base64Text.encodeURL([UInt8](repeating: 1, count: 64))
    return text
  }

  /// Returns a properly signed JWS with any header.
  func signed(header: [UInt8]) throws -> [UInt8] {
    var template = JWSTemplate(
      payload: HostileFixture.purchase.transactionPayload.bytes, chain: authority.chain)
    template.headerBytes = header
    return try template.signed()
  }

  func status(_ jws: [UInt8]) -> String {
    let document = standard.verifyJWS(jws, kind: .transaction, nowMs: HostileFixture.instant)
    return "\(document.status.name)"
  }
}

@Suite("Hostile input")
struct HostileInputTests {
  private let fixture: HostileFixture

  init() throws { fixture = try HostileFixture.made.get() }

  private static let numbers = [
    "253402300800000", "1e30", "-1e30", "1E400", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "0.5", "-0", "1e-400",
    "123456789012345678901234567890123456789012345678901234567890",
  ]

  @Test("JWS-103 a number in an unsigned payload reaches no code for dates", arguments: numbers)
  func unsignedNumber(_ number: String) throws {
    for member in ["signedDate", "expiresDate", "purchaseDate", "quantity"] {
      let jws = try fixture.unsigned("{\"\(member)\":\(number)}")
      checkEqual(fixture.status(jws), "rejected.jws.signature", "\(member)")
    }
  }

  @Test("JWS-41 now_ms at the ends of its type", arguments: [Int64.min, -1, 0, .max])
  func instants(_ now: Int64) throws {
    let jws = try fixture.authority.mint(HostileFixture.purchase.transactionPayload)
    let document = fixture.standard.verifyJWS(jws, kind: .transaction, nowMs: now)
    checkEqual(document.status, .misuseCallNow)
    checkEqual(fixture.standard.decide([document], account: nil, nowMs: now).status, .misuseCallNow)
    checkEqual(
      checkExpiry(expiresAtMs: now, gracePeriodMs: now, revokedAtMs: noDate, nowMs: now),
      .misuseCallNow
    )
  }

  @Test("JWS-103 the process that reads all of it ends by itself")
  func processLives() async {
    await #expect(processExitsWith: .success) {
      let fixture = try HostileFixture.made.get()
      for number in HostileInputTests.numbers {
        _ = fixture.status(try fixture.unsigned("{\"signedDate\":\(number)}"))
        _ = fixture.status(try fixture.signed("signedDate", number))
        _ = fixture.status(try fixture.signed("expiresDate", number))
      }
      _ = fixture.status([UInt8](repeating: 0x5b, count: 100_000))
      _ = fixture.status([UInt8](repeating: 0x41, count: 5_000_000))
      _ = fixture.status(try fixture.signed(header: Array("{\"alg\":\"ES256\",\"x5c\":[]}".utf8)))
      _ = Verifier.alone([UInt8](repeating: 0x5b, count: 100_000))
    }
  }
}
