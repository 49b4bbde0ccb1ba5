import AssayAuthority
import AssaySwift
import Foundation
import Testing

/// Tests the layer as a host uses it.
@Suite("Typed verifier")
struct VerifierTests {
  static let now = Timestamp(milliseconds: 1_795_219_200_000)
  static let made = Result { try Authority(now: now.milliseconds) }

  static func verifier() throws -> Verifier {
    try Verifier([
      "apps": [
        ["bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345"]
      ],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"]
      ],
      "storekit": ["anchors": [JSON(try made.get().anchor)]],
    ])
  }

  static func jws(_ changes: [(String, JSONText)] = []) throws -> String {
    let payload = Purchase(now: now.milliseconds).transactionPayload.setting(changes)
    return String(decoding: try made.get().mint(payload), as: UTF8.self)
  }

  @Test("a purchase is verified and decided about")
  func decides() throws {
    let verifier = try Self.verifier()
    let transaction = try verifier.verifyTransaction(Self.jws(), at: Self.now)
    #expect(transaction.productId == "com.example.app.premium.monthly")
    #expect(transaction.environment == .sandbox)
    #expect(transaction.type == .autoRenewable)
    #expect(transaction.bundleId == "com.example.app")
    #expect(transaction.chain.leaf.notAfter > Self.now)
    #expect("\(transaction)" == "Transaction, ok")
    let decision = try verifier.decide([transaction], at: Self.now)
    #expect(decision.entitled)
    #expect(decision.plan == "premium")
    #expect(decision.state == .active)
    #expect(decision.expiresAt == transaction.expiresDate)
    let later = try verifier.decide(
      [transaction], at: try #require(transaction.expiresDate).advanced(by: .seconds(86_400 * 90)))
    #expect(!later.entitled)
    #expect(later.plan == "free")
    #expect(later.document.status.httpStatus == 403)
  }

  @Test("a configuration is read from a file")
  func fromFile() throws {
    let folder = NSTemporaryDirectory() + "assay-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/config.json"
    func write(_ text: String) throws {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
    let text = #"{"apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890}]}"#

    try write(text + "\n")
    #expect(try Verifier(file: path).configuration == Verifier(text).configuration)

    try write("{\"apps\": []}")
    let empty = #expect(throws: AssayError.self) { try Verifier(file: path) }
    #expect(empty.map { "\($0.status)" } == "config.apps.form")
    try write(String(repeating: " ", count: 1 << 20) + text)
    let long = #expect(throws: AssayError.self) { try Verifier(file: path) }
    #expect(long.map { "\($0.status)" } == "config.document.range")

    for (other, code) in [
      (folder, EISDIR), (folder + "/none.json", ENOENT), (path + "\0", EINVAL), ("", ENOENT),
    ] {
      let error = #expect(throws: FileError.self) { try Verifier(file: other) }
      #expect(error?.code == code && error?.path == other)
      #expect(error?.description.hasPrefix(other + ": ") == true)
    }
  }

  @Test("what this version does not know is kept")
  func unknownValues() throws {
    let jws = try Self.jws([("type", "Rental"), ("novelty", ["deep": [1, "two"]])])
    let transaction = try Self.verifier().verifyTransaction(jws, at: Self.now)
    #expect(transaction.type == "Rental")
    #expect("\(try #require(transaction.type))" == "Rental")
    #expect(transaction.payload?.contains("\"novelty\":{\"deep\":[1,\"two\"]}") == true)
    #expect(transaction.document.warnings.contains { $0.id == "unknown-value" && $0.at == "type" })
    let coded = try JSONEncoder().encode([try #require(transaction.type)])
    #expect(String(decoding: coded, as: UTF8.self) == "[\"Rental\"]")
  }

  @Test("a refusal has everything on one line, and its status prints its name")
  func refuses() throws {
    let verifier = try Self.verifier()
    let jws = try Self.jws([("bundleId", "com.example.other")])
    do throws(AssayError) {
      _ = try verifier.verifyTransaction(jws, at: Self.now)
      Issue.record("accepted")
    } catch {
      #expect(error.status == .rejectedAppBundleId)
      #expect(error.family == .rejected)
      #expect("\(error.status)" == "rejected.app.bundle-id")
      #expect(error.rule?.hasPrefix("JWS-") == true)
      #expect(error.check == "identity.bundle")
      #expect(error.retryClass == .never)
      #expect(error.httpStatus == 400 || error.httpStatus == 403)
      #expect("\(error)".hasPrefix("rejected.app.bundle-id: "))
      #expect("\(error)".contains("; hint: "))
      let failed = error.document?.checks.filter { $0.ok == false }.map(\.id)
      #expect(failed == ["identity.bundle"])
    }
    #expect("\(Status.ok)" == "ok")
    #expect("\(Status(code: 0x7fff_ff01))" == "unknown")
    #expect(Status(code: 0x7fff_ff04).httpStatus == 413)
  }

  @Test("a configuration that is not usable says where")
  func configuration() throws {
    #expect(try Self.verifier().configuration.contains("\"com.example.app\""))
    do throws(AssayError) {
      _ = try Verifier(["apps": [["bundleId": 7]]])
      Issue.record("accepted")
    } catch {
      #expect(error.family == .config)
      #expect(error.at == "apps[0].bundleId")
    }
  }

  @Test("a time outside 2008 to 2100 is a fault of the caller")
  func times() throws {
    let verifier = try Self.verifier()
    let early = Timestamp(milliseconds: 0)
    #expect(throws: AssayError.self) { try verifier.verifyTransaction(Self.jws(), at: early) }
    #expect(throws: AssayError.self) { try verifier.triage("?", at: early) }
    #expect(checkExpiry(expires: .never, at: early).family == .misuse)
    #expect(checkExpiry(expires: .never, at: Self.now) == .ok)
    #expect(checkExpiry(expires: Self.now, at: Self.now) == .rejectedExpiryExpired)
    #expect(
      checkExpiry(expires: .never, revoked: early, at: Self.now) == .rejectedExpiryRevoked)
  }

  @Test("moments read as ISO 8601, and are made of dates")
  func moments() {
    #expect(Self.now.description == "2026-11-21T00:00:00.000Z")
    #expect(Timestamp(milliseconds: -1).description == "1969-12-31T23:59:59.999Z")
    #expect(Timestamp(milliseconds: 951_782_400_123).description == "2000-02-29T00:00:00.123Z")
    #expect(Timestamp(milliseconds: .min).description.hasSuffix(" ms"))
    let day: Int64 = 86_400_000
    let calendar = ISO8601DateFormatter()
    // The test begins in 1583, because before Foundation uses the Julian calendar.
    for days in stride(from: Int64(-141_000), to: 2_900_000, by: 97) {
      let moment = Timestamp(milliseconds: days * day)
      #expect(moment.description.prefix(10) == calendar.string(from: moment.date).prefix(10))
      #expect(Timestamp(moment.date) == moment)
    }
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == .never)
    #expect(Timestamp(Date.distantPast).milliseconds < 0)
    #expect(Self.now.advanced(by: .milliseconds(1)).milliseconds == Self.now.milliseconds + 1)
    #expect(Timestamp.never.advanced(by: .seconds(1)) == .never)
    #expect(Timestamp.now > Timestamp(milliseconds: 1_700_000_000_000))
  }

  @Test("a request for verifyReceipt is answered, a refused one too")
  func answersVerifyReceipt() throws {
    let verifier = try Self.verifier()
    let body = Array("{\"receipt-data\":\"AQIDBA==\"}".utf8)
    let found = try verifier.answerVerifyReceipt(body, endpoint: .sandbox, at: Self.now)
    #expect(found.httpStatus == 200)
    #expect(found.appleStatus == 21002)
    #expect(
      found.body
        == "{\"status\":21002,\"assay\":{\"version\":1,\"status\":\"rejected.kind.mismatch\"}}")
    let bare = try verifier.answerVerifyReceipt(
      body, endpoint: .sandbox, isMeasured: true, isTolerant: true, endedIsLater: true,
      isMarked: false, at: Self.now)
    #expect(bare.body == "{\"status\":21002}")
    #expect(throws: AssayError.self) {
      try verifier.answerVerifyReceipt(body, endpoint: Environment(rawValue: "Xcode"), at: Self.now)
    }
  }

  @Test("an answer about a refund has its rules, and its request only with consent")
  func refunds() throws {
    let verifier = try Self.verifier()
    let asked: JSON = [
      "environment": "Sandbox", "bundleId": "com.example.app", "transactionId": "1",
      "product": "p.1", "type": "Consumable", "ownership": "PURCHASED",
      "purchasedAtMs": JSON(Self.now.milliseconds), "askedAtMs": JSON(Self.now.milliseconds),
      "isGranted": true,
    ]
    let consent: JSON = ["isGiven": true, "answeredAtMs": JSON(Self.now.milliseconds)]
    let recorded = try verifier.assessRefund(
      asked, observations: ["consent": consent], at: Self.now)
    #expect(recorded.answer == .silent && recorded.would == .send && recorded.request == nil)
    #expect(recorded.fields.first?.rule == "RFA-14")
    #expect(recorded.fired.contains("RFA-23"))
    let refused = try verifier.assessRefund(asked, observations: [:], at: Self.now)
    #expect(refused.would == .silent && refused.fields.first?.value == "\"silent\"")
    do throws(AssayError) {
      _ = try verifier.assessRefund(asked, observations: ["consented": true], at: Self.now)
      Issue.record("accepted")
    } catch {
      #expect("\(error.status)" == "malformed.refund.input")
      #expect(error.at == "observations.consented")
    }
  }

  @Test("units of a refund")
  func refundUnits() throws {
    let verifier = try Self.verifier()
    let part = try verifier.computeRefundUnits(100, percentage: 30_000, grantedUnits: 80)
    #expect(part.refunded == 30 && part.remaining == 70 && part.take == 10)
    let unknown = try verifier.computeRefundUnits(100, revocationType: .refundProrated)
    #expect(unknown.share == nil && unknown.take == 0)
    #expect(throws: AssayError.self) { try verifier.computeRefundUnits(-1) }
  }

  @Test("literals are JSON")
  func literals() throws {
    let text: JSON = [
      "a": [1, 2.5, true, nil, "q\"\\\n\u{1}é"], "b": JSON(Double.nan), "c": JSON(text: "{}"),
    ]
    #expect(
      text.text == "{\"a\":[1,2.5,true,null,\"q\\\"\\\\\\u000a\\u0001é\"],\"b\":null,\"c\":{}}")
    let read = try JSONSerialization.jsonObject(with: Data(text.text.utf8)) as? [String: Any]
    #expect((read?["a"] as? [Any])?.last as? String == "q\"\\\n\u{1}é")
  }

  @Test("an exchange that is done takes no step, and a misspelt request throws")
  func exchanges() throws {
    let verifier = try Self.verifier()
    let request: JSON = [
      "operation": "assess-risk",
      "observations": ["request": "read", "attestation": "unsupported"],
    ]
    let exchange = try verifier.exchange(request, at: Self.now)
    #expect(exchange.isDone)
    #expect(exchange.raw?.contains("\"verdict\"") == true)
    #expect(throws: AssayError.self) { try exchange.step(["id": 1], at: Self.now) }
    #expect(throws: AssayError.self) {
      try verifier.exchange(["operation": "asess-risk"], at: Self.now)
    }
    do throws(AssayError) {
      _ = try verifier.assessRisk(["request": "paid", "attestation": "unsuported"], at: Self.now)
      Issue.record("accepted")
    } catch {
      #expect("\(error.status)" == "malformed.risk.input")
      #expect(error.at?.hasSuffix("attestation") == true)
    }
    let risk = try verifier.assessRisk(
      ["request": "paid", "attestation": "unsupported", "purchase": "foreign"], at: Self.now)
    #expect(!risk.isAllowed)
    #expect(risk.verdict != .allow)
    #expect(risk.status.httpStatus >= 400)
  }

  @Test("an exchange that was done at once has its result")
  func atOnce() throws {
    let verifier = try Self.verifier()
    let done = try verifier.exchange(
      ["operation": "normalize-key-id", "keyId": JSON(String(repeating: "A", count: 43) + "=")],
      at: Self.now)
    #expect(done.stepName == "done")
    #expect(done.raw?.contains("\"keyId\"") == true)
  }
}
