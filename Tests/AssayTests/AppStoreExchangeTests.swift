import AssayAuthority
import Testing

@testable import Assay

/// Tests the exchange with the App Store Server API beyond its transcripts (API-1 … API-55).
@Suite("Exchange App Store")
struct AppStoreExchangeTests {
  private static let now = Signing.now
  private static let catalogue: [(String, JSONText)] = [
    ("plans", ["free", "premium"]),
    (
      "products",
      [
        "com.example.app.premium.monthly": [
          "plan": "premium", "type": "auto-renewable", "group": "main",
        ]
      ]
    ),
  ]

  private func verifier() throws -> Verifier {
    try Minted.verifier(try Signing.blocks() + Self.catalogue)
  }

  private var purchase: Purchase { Minted.purchase.with { $0.environment = "Production" } }

  private func signed(_ payload: JSONText) throws -> JSONText {
    .string(utf8: try Minted.authority().mint(payload))
  }

  private func answer(_ id: Int64, _ body: JSONText, _ status: Int64 = 200) -> [UInt8] {
    let answer: JSONText = [
      "id": .integer(id), "status": .integer(status),
      "headers": [["Content-Type", "application/json"]],
      "body": ["text": .string(utf8: body.bytes)],
    ]
    return answer.bytes
  }

  private func history(
    _ more: [(String, JSONText)] = []
  ) throws -> (verifier: Verifier, exchange: Assay.Exchange, document: Document) {
    let request: JSONText = [
      "operation": "get-transaction-history", "environment": "auto", "transactionId": "1",
    ]
    let verifier = try verifier()
    let (exchange, document) = verifier.startExchange(
      request.setting(more).bytes, nowMs: Self.now)
    return (verifier, try require(exchange), document)
  }

  @Test("API-11 each request has a token of its own that our key has signed")
  func tokens() throws {
    let (_, exchange, first) = try history()
    let second = exchange.step(answer(1, [:], 401), nowMs: Self.now + 5000)
    var seen: Set<String> = []
    for (document, seconds) in [(first, Self.now / 1000), (second, Self.now / 1000 + 5)] {
      let bearer = try require(document.text("exchange.http.headers.0.1"))
      check(bearer.hasPrefix("Bearer "))
      let opened = try Signing.opened(String(bearer.dropFirst(7)))
      check(opened.payload.contains("\"bid\":\"com.example.app\""))
      check(opened.payload.contains("\"aud\":\"appstoreconnect-v1\""))
      check(opened.payload.contains("\"iat\":\(seconds - 60),\"exp\":\(seconds + 300),"))
      seen.insert(bearer)
    }
    checkEqual(seen.count, 2)
  }

  @Test("EXC-12 a finished exchange is evidence of every JWS in it")
  func evidence() throws {
    let page: JSONText = [
      "hasMore": false,
      "signedTransactions": [
        try signed(purchase.transactionPayload),
        try signed(purchase.with { $0.signedDate -= 1000 }.transactionPayload),
      ],
    ]
    let (verifier, exchange, _) = try history()
    let document = exchange.step(answer(1, page), nowMs: Self.now)
    checkEqual(document.status, .ok)
    checkEqual(document.evidence?.items.count, 2)
    let decision = verifier.decide([document], account: nil, nowMs: Self.now)
    checkEqual(decision.status, .ok)
    checkEqual(decision.text("decision.plan"), "premium")
  }

  @Test("EXC-12 what was refused in part is no evidence")
  func partial() throws {
    let good = try signed(purchase.transactionPayload)
    let page: JSONText = ["hasMore": false, "signedTransactions": [good, "a.b.c"]]
    let (verifier, exchange, _) = try history([("options", ["partial": true])])
    let document = exchange.step(answer(1, page), nowMs: Self.now)
    checkEqual(document.name, "rejected.app-store.partial")
    check(document.evidence == nil)
    let decision = verifier.decide([document], account: nil, nowMs: Self.now)
    checkEqual(decision.name, "misuse.decision.evidence")
  }

  @Test("EXC-12 an answer without a JWS proves nothing")
  func nothing() throws {
    let (verifier, exchange, _) = try history()
    let document = exchange.step(answer(1, ["hasMore": false]), nowMs: Self.now)
    checkEqual(document.status, .ok)
    let decision = verifier.decide([document], account: nil, nowMs: Self.now)
    checkEqual(decision.name, "misuse.decision.evidence")
  }

  /// Replies with random responses until the end: never more steps than the request may have.
  @Test("EXC-15 no exchange takes more steps than its pages and attempts allow")
  func bounds() throws {
    var random = SystemRandomNumberGenerator()
    let page = try signed(purchase.transactionPayload)
    for _ in 0..<60 {
      let pages = Int64.random(in: 1...4, using: &random)
      let attempts = Int64.random(in: 1...5, using: &random)
      let (_, exchange, first) = try history([
        ("options", ["pages": .integer(pages), "attempts": .integer(attempts)]),
        ("deadlineMs", .integer(Self.now + 86_000_000)),
      ])
      var (document, steps, now) = (first, 0, Self.now)
      while document.status.family == .pending {
        steps += 1
        if let end = document.integer("exchange.notBeforeMs") {
          now = end
          document = exchange.step(Array("{}".utf8), nowMs: now)
          continue
        }
        let id = try require(document.integer("exchange.http.id"))
        let next: JSONText = [
          "hasMore": true, "revision": .string("r\(steps)"), "signedTransactions": [page],
        ]
        let status = [200, 200, 401, 404, 429, 500, 503].randomElement(using: &random) ?? 200
        let body: JSONText = status == 404 ? ["errorCode": 4_040_010] : next
        document = exchange.step(answer(id, body, Int64(status)), nowMs: now)
      }
      check(steps <= pages * (2 * attempts - 1) + 2)
      check(document.name != "internal.assay.bug")
    }
  }

  @Test("API-52 a wait is spread by at most a quarter")
  func spread() throws {
    var waits: Set<Int64> = []
    for id in 1...40 {
      let (_, exchange, _) = try history([("transactionId", .string("\(id)"))])
      let document = exchange.step(answer(1, [:], 500), nowMs: Self.now)
      let wait = try require(document.integer("exchange.notBeforeMs")) - Self.now
      check((1000...1250).contains(wait))
      waits.insert(wait)
    }
    check(waits.count > 10)
  }

  @Test("EXC-25 every kind of the table is a kind of exchange, once")
  func table() {
    let kinds = Operation.allCases.filter { AppStoreEndpoint.of($0) != nil }
    for kind in kinds { check(kind.row.steps.most() > 0) }
    checkEqual(kinds.count, AppStoreEndpointTable.rows.count)
    let names = Set(AppStoreEndpointTable.rows.map { Text(stringLiteral: $0.name).string })
    checkEqual(names.count, AppStoreEndpointTable.rows.count)
  }
}
