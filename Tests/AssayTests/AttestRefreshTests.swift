import AssayAuthority
import Testing

@testable import Assay

/// Tests which token is sent and which evidence is refreshed (docs/spec/app-attest.md §8).
@Suite("Exchange refresh-attest-receipt")
struct AttestRefreshTests {
  private static let now = AttestFixture.now
  private let verifier: Verifier

  init() throws {
    verifier = try AttestFixture.verifier([
      (
        "deviceCheck",
        ["teamId": "ABCDE12345", "keyId": "KEYID12345", "privateKey": try Signing.pem()]
      )
    ])
  }

  private func refresh(
    _ evidence: Document
  ) -> (exchange: Exchange?, document: Document) {
    verifier.startExchange(
      utf8(#"{"operation":"refresh-attest-receipt"}"#), evidence: [evidence], nowMs: Self.now)
  }

  private func attested(_ changes: [(String, JSONText)] = []) throws -> Document {
    try AttestFixture.attest(
      try AttestFixture.attestation(), try AttestFixture.verifier(changes))
  }

  @Test("RFR-5 the token stands bare, and each request has its own")
  func bearer() throws {
    let (exchange, first) = refresh(try attested())
    let open = try require(exchange)
    let renewed = open.step(utf8(#"{"id":1,"status":401,"body":null}"#), nowMs: Self.now + 5000)
    var tokens: [String] = []
    for (document, seconds) in [(first, 0), (renewed, 5)] as [(Document, Int64)] {
      Exchanges.expect(document, "pending.exchange.http")
      checkEqual(document.text("exchange.http.headers.0.0"), "Authorization")
      let token = try require(document.text("exchange.http.headers.0.1"))
      let (header, payload) = try Signing.opened(token)
      checkEqual(header, #"{"alg":"ES256","kid":"KEYID12345"}"#)
      let made = Self.now / 1000 + seconds
      checkEqual(payload, #"{"iss":"ABCDE12345","iat":\#(made),"exp":\#(made + 1200)}"#)
      tokens.append(token)
    }
    checkEqual(Set(tokens).count, 2)
  }

  @Test("RFR-4 EXC-13 an attestation is refreshed by its receipt, judged live or stored")
  func attestation() throws {
    for changes in [[], [("attest.time", "stored")]] as [[(String, JSONText)]] {
      let document = try attested(changes)
      let receipt = try require(document.text("attestation.receipt.bytes"))
      let (_, step) = refresh(document)
      checkEqual(step.text("exchange.http.body.text"), receipt)
    }
    let (_, refused) = refresh(try attested([("attest.receipt", "ignore")]))
    Exchanges.expect(refused, "misuse.exchange.evidence", at: "evidence[0]")
  }
}
