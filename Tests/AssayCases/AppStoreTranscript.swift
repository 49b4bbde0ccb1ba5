import AssayAuthority

/// Makes transcripts of the App Store Server API: purchases in both environments, and Apple's
/// responses about them.
final class AppStoreTranscript: Transcript {
  static let parameter = "misuse.app-store.parameter"
  static let noAnswer = "unavailable.app-store.no-response"
  static let limited = "unavailable.app-store.rate-limited"
  static let unauthorized = "rejected.app-store.unauthorized"
  static let production = "https://api.storekit.apple.com"
  static let sandbox = "https://api.storekit-sandbox.apple.com"

  /// A subscription in each environment, signed by Apple now.
  let purchase: Purchase
  let sandboxPurchase: Purchase

  init(_ fixture: CaseFixture) {
    purchase = fixture.production
    sandboxPurchase = fixture.purchase
    super.init(
      fixture, with: "App Store", verifier: "app-store",
      asks: Self.request(
        "get-transaction-info", [("transactionId", .string(purchase.transactionId))]))
  }

  var id: String { purchase.transactionId }

  // MARK: signed evidence

  func signed(_ kind: EvidenceKind, _ purchase: Purchase? = nil) throws -> JSONText {
    .string(
      utf8: try fixture.authority.mint(
        try fixture.authority.payload(kind, purchase ?? self.purchase)))
  }

  /// Returns a transaction with the signature of another one.
  func forged() throws -> JSONText {
    let good = try fixture.authority.mint(purchase.transactionPayload)
    let other = try fixture.authority.mint(sandboxPurchase.transactionPayload)
    let dot = good.lastIndex(of: 0x2e) ?? 0
    let tail = other[(other.lastIndex(of: 0x2e) ?? 0)...]
    return .string(utf8: Array(good[..<dot] + tail))
  }

  // MARK: requests

  static func request(_ name: String, _ more: [(String, JSONText)] = []) -> JSONText {
    let request: JSONText = ["operation": .string(name), "environment": "Production"]
    return request.setting(more)
  }

  /// Returns a request for the transaction's info; `options` are passed on unchanged.
  func info(_ environment: String = "Production", _ options: JSONText? = nil) -> JSONText {
    let request = usual.setting("environment", .string(environment))
    return options.map { request.setting("options", $0) } ?? request
  }

  func history(_ options: JSONText? = nil) -> JSONText {
    let request = usual.setting("operation", "get-transaction-history")
    return options.map { request.setting("options", $0) } ?? request
  }

  // MARK: answers

  /// Returns a response to the request number `id`, which was made `after` ms after `now`.
  func api(
    _ id: Int64, _ status: Int64, _ body: JSONText? = nil, to base: String = production,
    path: String? = nil, headers: [(String, String)] = [], after: Int64 = 0,
    more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    http(
      id, status, body, headers: .array(headers.map { [.string($0.0), .string($0.1)] }),
      after: after, more: more,
      facts: [("http.headers.0.0", "Authorization")]
        + (path.map { [("http.url", .text(base + $0))] } ?? []) + facts)
  }

  /// Returns a good response, JSON by its content type.
  func apple(
    _ id: Int64, _ body: JSONText, to base: String = production, path: String? = nil,
    after: Int64 = 0, facts: Facts = []
  ) -> Said {
    api(
      id, 200, body, to: base, path: path,
      headers: [("Content-Type", "application/json;charset=UTF-8")], after: after, facts: facts)
  }

  func error(
    _ id: Int64, _ code: Int64, to base: String = production, path: String? = nil, after: Int64 = 0
  ) -> Said {
    api(
      id, code / 10_000,
      ["errorCode": .integer(code), "errorMessage": .string("Apple says \(code).")], to: base,
      path: path, after: after)
  }

  /// Returns a wait with its jitter, after `requests` requests for the path.
  static func pause(_ milliseconds: Int64, _ requests: UInt32, _ path: String) -> Int64 {
    var hash: UInt32 = 2_166_136_261 &+ requests
    for byte in path.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return milliseconds + milliseconds / 4 * Int64(hash >> 24) / 255
  }

  var infoPath: String { "/inApps/v1/transactions/" + id }

  /// Returns the wait after the first, second … request for the transaction.
  func pause(_ milliseconds: Int64, _ requests: UInt32) -> Int64 {
    Self.pause(milliseconds, requests, infoPath)
  }
}
