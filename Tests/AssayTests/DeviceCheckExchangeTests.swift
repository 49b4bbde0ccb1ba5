import AssayAuthority
import Testing

@testable import Assay

/// Tests the exchange with Apple's DeviceCheck, state by state (DVC-13 … DVC-15).
@Suite("Exchange DeviceCheck")
struct DeviceCheckExchangeTests {
  private static let now = Signing.now
  private static let token = String(
    decoding: Base64.encodeStandard([UInt8](1...90)), as: UTF8.self)

  private func machine() throws -> DeviceCheckStateMachine {
    let request: JSONText = [
      "operation": "query-device-bits", "deviceToken": .string(Self.token), "transactionId": "t-1",
    ]
    let policy = DeviceCheckPolicy(
      teamId: "ABCDE12345", keyId: "KEYID12345",
      privateKey: PrivateKeyFile.read(try Signing.key().pem()))
    return DeviceCheckStateMachine(
      try DeviceCheckTask(try ExchangeRequest(request.bytes), .query, policy), nowMs: Self.now)
  }

  private func http(_ status: Int64, _ body: String = "") -> ExchangeReply {
    .http(HTTPResponse(status: status, body: utf8(body)))
  }

  private func words(_ action: ExchangeAction) -> String {
    switch action {
    case .request: return "request"
    case .database, .grant: return "store"
    case .wait(let wait):
      return "wait \(wait.notBeforeMs - Self.now) \(Text(stringLiteral: wait.reason.name).string)"
    case .accepted(let evidence, _): return evidence == nil ? "accepted" : "evidence"
    case .refused(let ending): return Text(stringLiteral: ending.refusal.status.name).string
    }
  }

  /// Passes replies, each at `now`; a wait is followed by its end.
  private func play(_ answers: [ExchangeReply]) throws -> [String] {
    var machine = try machine()
    var said = [words(machine.start(nowMs: Self.now))]
    for answer in answers { said.append(words(machine.receive(answer, nowMs: Self.now))) }
    check(machine.state != .ready)
    return said
  }

  @Test("EXC-5 an answer of another form than the step's is a fault of ours")
  func wrongForm() throws {
    try checkEqual(play([.elapsed]), ["request", "internal.assay.bug"])
    try checkEqual(
      play([http(500), http(500)]), ["request", "wait 1000 retry", "internal.assay.bug"])
    try checkEqual(
      play([http(200, "Bit State Not Found"), http(200)]),
      ["request", "accepted", "internal.assay.bug"])
  }

  @Test("DVC-2 DVC-13 every request has a token of its own, of its own time")
  func tokens() throws {
    var machine = try machine()
    var tokens: [String] = []
    func note(_ action: ExchangeAction, _ now: Int64) throws {
      guard case .request(let request) = action else { return }
      let value = String(
        decoding: try require(request.authorization).bytes, as: UTF8.self)
      try require(value.hasPrefix("Bearer "))
      let (header, payload) = try Signing.opened(String(value.dropFirst(7)))
      checkEqual(header, #"{"alg":"ES256","kid":"KEYID12345"}"#)
      checkEqual(
        payload, #"{"iss":"ABCDE12345","iat":\#(now / 1000),"exp":\#(now / 1000 + 1200)}"#)
      tokens.append(value)
    }
    try note(machine.start(nowMs: Self.now), Self.now)
    try note(machine.receive(http(401), nowMs: Self.now + 2500), Self.now + 2500)
    _ = machine.receive(http(500), nowMs: Self.now + 2500)
    try note(machine.receive(.elapsed, nowMs: Self.now + 3500), Self.now + 3500)
    checkEqual(Set(tokens).count, 3)
  }

  @Test("EXC-15 no answers bring more than six steps")
  func bounded() throws {
    let answers = [http(0), http(401, "x"), http(429), http(200, "?"), http(400, "Bad Bits")]
    var longest = 0
    // Every sequence of four replies.
    for number in 0..<625 {
      var machine = try machine()
      var steps = 1
      var rest = number
      var action = machine.start(nowMs: Self.now)
      for _ in 0..<8 {
        switch action {
        case .request:
          action = machine.receive(answers[rest % 5], nowMs: Self.now)
          rest /= 5
        case .wait: action = machine.receive(.elapsed, nowMs: Self.now)
        default: continue
        }
        if case .refused = action { break }
        if case .accepted = action { break }
        steps += 1
      }
      longest = max(longest, steps)
    }
    checkEqual(longest, Operation.queryDeviceBits.row.steps.most())
  }

  @Test("DOC-3 no final document and no retry has the device token or our own")
  func silent() throws {
    let verifier = try Signing.verifier()
    let request: JSONText = [
      "operation": "validate-device-token", "deviceToken": .string(Self.token),
      "transactionId": "t-1",
    ]
    let (exchange, first) = verifier.startExchange(request.bytes, nowMs: Self.now)
    check(String(decoding: first.json, as: UTF8.self).contains(Self.token))
    var document = first
    for (id, status, after) in [(1, 500, 0), (0, 0, 1000), (3, 400, 1000)] as [(Int, Int, Int64)] {
      let answer =
        id == 0 ? "{}" : #"{"id":\#(id),"status":\#(status),"body":{"text":"Bad Device Token"}}"#
      document = try require(exchange).step(utf8(answer), nowMs: Self.now + after)
      let json = String(decoding: document.json, as: UTF8.self)
      checkEqual(json.contains(Self.token), (document.text("exchange.step") == "http"))
      checkEqual(json.contains("Bearer "), (document.text("exchange.step") == "http"))
    }
    Exchanges.expect(document, "rejected.device-check.token")
  }
}
