import AssayAuthority
import Testing

@testable import Assay

/// Tests fetching key sets, and verifications with the result (KST-1 … KST-13).
@Suite("Exchange keys")
struct KeysetExchangeTests {
  private static let now = Exchanges.now

  private func verifier(_ more: [(String, JSONText)] = []) throws -> Verifier {
    try Minted.verifier([("tokens", TokenAuthority.configuration)] + more)
  }

  private func fetched(_ verifier: Verifier, _ body: JSONText) throws -> Document {
    let request: JSONText = [
      "operation": "fetch-keyset", "issuer": .string(TokenAuthority.pool), "wantKid": "new",
    ]
    let (exchange, _) = verifier.startExchange(request.bytes, nowMs: Self.now)
    let answer: JSONText = [
      "id": 1, "status": 200, "body": ["text": .string(utf8: body.bytes)],
    ]
    return try require(exchange).step(answer.bytes, nowMs: Self.now)
  }

  @Test("KST-8 a set that was just fetched and lacks the key answers cooldown")
  func cooldown() throws {
    let authority = try TokenAuthority(now: Self.now)
    let verifier = try verifier()
    let document = try fetched(verifier, try authority.keyset(issuer: nil))
    checkEqual(document.status, .ok)
    let text = try require(document.text("exchange.keyset"))
    let keys = try require(Keyset.make(Array(text.utf8)).keyset)
    let good = authority.rs256(authority.cognitoClaims)
    checkEqual(verifier.verifyToken(try good.signed(), keyset: keys, nowMs: Self.now).status, .ok)
    let other = try good.with { $0.header = $0.header.setting("kid", "new") }.signed()
    for (after, advice) in [(0, "cooldown"), (29_999, "cooldown"), (30_000, "refresh")]
      as [(Int64, String)]
    {
      let refused = verifier.verifyToken(other, keyset: keys, nowMs: Self.now + after)
      checkEqual(refused.status, .rejectedTokenUnknownKey)
      checkEqual(refused.text("error.keyset"), advice)
    }
  }

  @Test("KST-4 a key that vanished verifies nothing any more")
  func withdrawn() throws {
    let authority = try TokenAuthority(now: Self.now)
    let verifier = try verifier()
    let elliptic = try TokenAuthority.jwk(
      elliptic: authority.ellipticKey, kid: TokenAuthority.ellipticKid)
    let document = try fetched(verifier, ["keys": [elliptic]])
    let text = try require(document.text("exchange.keyset"))
    let keys = try require(Keyset.make(Array(text.utf8)).keyset)
    let token = try authority.rs256(authority.cognitoClaims).signed()
    checkEqual(
      verifier.verifyToken(token, keyset: keys, nowMs: Self.now).status, .rejectedTokenUnknownKey)
  }

  @Test("EXC-5 EXC-15 one wait, one request, and nothing else")
  func bounded() throws {
    let request: JSONText = [
      "operation": "fetch-keyset", "issuer": .string(TokenAuthority.pool),
      "state": ["triedAtMs": .integer(Self.now)],
    ]
    let task = try KeysetTask(
      try ExchangeRequest(request.bytes), try verifier().configuration, nowMs: Self.now)
    var machine = KeysetStateMachine(task)
    guard case .wait(let wait) = machine.start(nowMs: Self.now) else {
      Issue.record("no wait")
      return
    }
    checkEqual(wait.notBeforeMs, Self.now + 30_000)
    guard case .request = machine.receive(.elapsed, nowMs: wait.notBeforeMs) else {
      Issue.record("no request")
      return
    }
    for answer in [ExchangeReply.elapsed, .http(HTTPResponse(status: 500))] {
      var copy = machine
      guard case .refused(let end) = copy.receive(answer, nowMs: wait.notBeforeMs) else {
        Issue.record("goes on")
        continue
      }
      checkEqual(copy.state, .done)
      check([.internalAssayBug, .unavailableJwksNoResponse].contains(end.refusal.status))
    }
  }
}
