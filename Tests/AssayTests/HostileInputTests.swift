import AssayAuthority
import Testing

@testable import Assay

/// Inputs that kill hosts of other libraries: dates of the year 10000, numbers
/// that no integer holds, nesting, sizes. Each gets an answer, and the process
/// survives.
private struct HostileBench: Sendable {
  /// 2026-11-21 UTC.
  static let instant: Int64 = 1_795_219_200_000
  static let made = Result { try HostileBench() }

  let authority: Authority
  let standard: Verifier
  /// Looks at texts of up to 256 KiB.
  let wide: Verifier

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
    authority = try Authority(now: HostileBench.instant)
    let config = HostileBench.config(authority)
    standard = try #require(Verifier.alone(config.bytes).verifier)
    let large = config.setting("storekit.caps", ["jwsBytes": 262_144])
    wide = try #require(Verifier.alone(large.bytes).verifier)
  }

  /// The good transaction with one member's value as raw text, signed.
  func signed(_ member: String, _ value: String) throws -> [UInt8] {
    try authority.mint(HostileBench.purchase.transactionPayload.setting(member, .text(value)))
  }

  /// A good header over any payload, with a signature by no one.
  func unsigned(_ payload: String) throws -> [UInt8] {
    let good = try authority.mint(HostileBench.purchase.transactionPayload)
    var text: [UInt8] = Array(good.prefix { $0 != 0x2e })
    text.append(0x2e)
    text += Base64Text.encodeURL(Array(payload.utf8))
    text.append(0x2e)
    text += Base64Text.encodeURL([UInt8](repeating: 1, count: 64))
    return text
  }

  /// A properly signed JWS with any header.
  func signed(header: [UInt8]) throws -> [UInt8] {
    var template = JWSTemplate(
      payload: HostileBench.purchase.transactionPayload.bytes, chain: authority.chain)
    template.headerBytes = header
    return try template.signed()
  }

  func status(_ jws: [UInt8], wide isWide: Bool = false) -> String {
    let verifier = isWide ? wide : standard
    let document = verifier.verifyJWS(jws, kind: .transaction, nowMs: HostileBench.instant)
    return "\(document.status.name)"
  }
}

@Suite("Hostile input")
struct HostileInputTests {
  private let bench: HostileBench

  init() throws { bench = try HostileBench.made.get() }

  private static let numbers = [
    "253402300800000", "1e30", "-1e30", "1E400", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "0.5", "-0", "1e-400",
    "123456789012345678901234567890123456789012345678901234567890",
  ]

  @Test("JWS-103 a number in an unsigned payload reaches no code for dates", arguments: numbers)
  func unsignedNumber(_ number: String) throws {
    for member in ["signedDate", "expiresDate", "purchaseDate", "quantity"] {
      let jws = try bench.unsigned("{\"\(member)\":\(number)}")
      #expect(bench.status(jws) == "rejected.jws.signature", "\(member)")
    }
  }

  @Test("JWS-41 a signed signing date out of all range is refused by name", arguments: numbers)
  func signedDate(_ number: String) throws {
    let isWhole = number.utf8.allSatisfy { $0 == 0x2d || ($0 >= 0x30 && $0 <= 0x39) }
    #expect(
      bench.status(try bench.signed("signedDate", number))
        == (isWhole ? "rejected.date.range" : "malformed.payload.type"))
  }

  @Test("PAY-6 any number in any decisive member has an answer", arguments: numbers)
  func decisiveMember(_ number: String) throws {
    for member in [
      "expiresDate", "purchaseDate", "originalPurchaseDate", "revocationDate", "quantity",
      "offerType", "revocationReason", "price",
    ] {
      let status = bench.status(try bench.signed(member, number))
      #expect(
        ["ok", "malformed.payload.type"].contains(status), "\(member) \(number): \(status)")
    }
  }

  @Test("JWS-6 100,000 nested arrays, behind and before the signature")
  func nesting() throws {
    let deep = [UInt8](repeating: 0x5b, count: 100_000)
    var template = JWSTemplate(payload: deep, chain: bench.authority.chain)
    #expect(bench.status(try template.signed()) == "too-large.jws.input")
    #expect(bench.status(try template.signed(), wide: true) == "too-large.json.depth")
    template.payload =
      Array("{\"a\":".utf8) + deep + [UInt8](repeating: 0x5d, count: 100_000) + [0x7d]
    #expect(bench.status(try template.signed(), wide: true) == "too-large.jws.input")
    #expect(
      bench.status(try bench.signed(header: deep), wide: true) == "too-large.jws.header")
    let nested = [UInt8](repeating: 0x5b, count: 12_000)
    #expect(bench.status(try bench.signed(header: nested)) == "too-large.json.depth")
    #expect(Verifier.alone(deep).verifier == nil)
  }

  @Test("JWS-13 an empty x5c, and entries of no certificate")
  func chainOfNothing() throws {
    let cases: [(String, String)] = [
      ("[]", "rejected.chain.length"), ("[\"\"]", "rejected.chain.length"),
      ("[\"\",\"\",\"\"]", "rejected.chain.untrusted-root"), ("[[],[],[]]", "malformed.jws.x5c"),
      ("{}", "malformed.jws.x5c"), ("null", "malformed.jws.x5c"),
      ("[\"A\",\"A\",\"A\"]", "malformed.chain.base64"),
    ]
    for (value, status) in cases {
      let header = Array("{\"alg\":\"ES256\",\"x5c\":\(value)}".utf8)
      #expect(bench.status(try bench.signed(header: header)) == status, "\(value)")
    }
  }

  @Test("JWS-1 JWS-3 headers of 5 MB, and texts of dots")
  func sizes() throws {
    let large = [UInt8](repeating: 0x41, count: 5_000_000)
    #expect(bench.status(large + [0x2e, 0x41, 0x2e, 0x41]) == "too-large.jws.input")
    let dots = [UInt8](repeating: 0x2e, count: 60_000)
    for text in [[], [0x2e], [0x2e, 0x2e], [0x2e, 0x2e, 0x2e], dots, [0], [0xff]] as [[UInt8]] {
      #expect(bench.status(text) == "malformed.jws.form")
    }
    #expect(Verifier.alone(large).verifier == nil)
    #expect(Verifier.alone([]).verifier == nil)
  }

  @Test("JWS-100 r and s at the ends of their range")
  func signatureNumbers() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let one = [UInt8](repeating: 0, count: 31) + [1]
    let ones = [UInt8](repeating: 0xff, count: 32)
    let numbers = [zero, one, P256.order, ones]
    var template = JWSTemplate(
      payload: HostileBench.purchase.transactionPayload.bytes, chain: bench.authority.chain)
    for r in numbers {
      for s in numbers {
        template.signature = .octets(r + s)
        #expect(bench.status(try template.signed()) == "rejected.jws.signature")
      }
    }
  }

  @Test("JWS-41 now_ms at the ends of its type", arguments: [Int64.min, -1, 0, .max])
  func instants(_ now: Int64) throws {
    let jws = try bench.authority.mint(HostileBench.purchase.transactionPayload)
    let document = bench.standard.verifyJWS(jws, kind: .transaction, nowMs: now)
    #expect(document.status == .misuseCallNow)
    #expect(bench.standard.decide([document], account: nil, nowMs: now).status == .misuseCallNow)
    #expect(
      checkExpiry(expiresMs: now, gracePeriodMs: now, revokedMs: noDate, nowMs: now)
        == .misuseCallNow)
  }

  @Test("CNF-1 configurations with numbers and durations that no calendar has")
  func configurations() throws {
    let config = HostileBench.config(bench.authority)
    for number in HostileInputTests.numbers {
      for path in ["clockSkewMs", "storekit.caps.jwsBytes", "decide.leewayMs"] {
        let changed = config.setting(path, .text(number))
        let (verifier, document) = Verifier.alone(changed.bytes)
        #expect((verifier == nil) == (document.status != .ok), "\(path) \(number)")
        #expect(number == "-0" || verifier == nil, "\(path) \(number)")
      }
    }
    for duration in [
      "P9999999999999999999D", "P-1D", "P0D", "P", "", "P1", "PD", "P99999999M", "P1Y1Y",
    ] {
      let product: JSONText = [
        "plan": "premium", "type": "non-renewing", "duration": .string(duration),
      ]
      let changed = config.setting("products", .object([.init("a.b", product)]))
      #expect(Verifier.alone(changed.bytes).verifier == nil, "\(duration)")
    }
  }

  @Test("DOC-2 paths of dots, signs and any length find nothing and end nothing")
  func paths() throws {
    let jws = try bench.authority.mint(HostileBench.purchase.transactionPayload)
    let document = bench.standard.verifyJWS(
      jws, kind: .transaction, nowMs: HostileBench.instant)
    #expect(document.status == .ok)
    let long = String(repeating: "transaction.", count: 100_000)
    for path in [
      "", ".", "....", "checks.-1", "checks.9223372036854775807", "checks.9223372036854775808",
      "checks.-9223372036854775808", "checks.", "transaction..", "kind.0", "\\", "\"", long,
    ] {
      #expect(document.text(path) == nil)
      #expect(document.integer(path) == nil)
    }
    #expect(document.text("checks.0.id") == "jws.size")
  }

  @Test("JWS-103 the process that reads all of it ends by itself")
  func processLives() async {
    await #expect(processExitsWith: .success) {
      let bench = try HostileBench.made.get()
      for number in HostileInputTests.numbers {
        _ = bench.status(try bench.unsigned("{\"signedDate\":\(number)}"))
        _ = bench.status(try bench.signed("signedDate", number))
        _ = bench.status(try bench.signed("expiresDate", number))
      }
      _ = bench.status([UInt8](repeating: 0x5b, count: 100_000))
      _ = bench.status([UInt8](repeating: 0x41, count: 5_000_000))
      _ = bench.status(try bench.signed(header: Array("{\"alg\":\"ES256\",\"x5c\":[]}".utf8)))
    }
  }
}
