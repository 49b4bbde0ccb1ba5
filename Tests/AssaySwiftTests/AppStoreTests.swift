import AssayAuthority
import AssaySwift
import Testing

/// Calls of the App Store Server API, and the facts of Apple's responses.
@Suite("Typed App Store")
struct AppStoreTests {
  private static let now = Timestamp(milliseconds: 1_795_219_200_000)

  @Test("API-22 a call is a request")
  func requests() throws {
    let store = try #require(Table.verifiers["app-store"]).appStore("auto", attempts: 1)
    let history = try store.getTransactionHistory(
      transactionId: "1", productId: ["a", "b"], revoked: false, pages: 2, at: Self.now)
    #expect(
      history.document.text("exchange.http.url")
        == "https://api.storekit.apple.com/inApps/v2/history/1?productId=a&productId=b&revoked=false"
    )
    let sent = try store.sendConsumptionInformation(
      transactionId: "1", customerConsented: true, sampleContentProvided: false,
      deliveryStatus: "DELIVERED", consumptionPercentage: 0, at: Self.now)
    #expect(
      sent.document.text("exchange.http.body.text")
        == #"{"customerConsented":true,"sampleContentProvided":false,"#
        + #""deliveryStatus":"DELIVERED","consumptionPercentage":0}"#)
    #expect(throws: AssayError.self) {
      try store.getTransactionInfo(transactionId: "../1", at: Self.now)
    }
  }

  @Test("API-35 an answer has the facts of its transactions")
  func answers() throws {
    let entry = try #require(
      try Table.made.get().cases.first { $0.name.hasSuffix("App Store: two pages") })
    guard case .transcript(let name, let request, _, let now, let steps) = entry.call else {
      Issue.record("no transcript")
      return
    }
    let verifier = try #require(Table.verifiers[name])
    let exchange = try verifier.exchange(
      JSON(text: String(decoding: request.bytes, as: UTF8.self)),
      at: Timestamp(milliseconds: now))
    #expect(throws: AssayError.self) { try AppStoreResponse(exchange) }
    for step in steps {
      try exchange.step(
        JSON(text: String(decoding: step.answer.bytes, as: UTF8.self)),
        at: Timestamp(milliseconds: step.now))
    }
    let answer = try AppStoreResponse(exchange)
    #expect(answer.transactions.count == 2)
    #expect(answer.transactions.last?.transactionId == "180000900000002")
    #expect(answer.unsigned.revision == "r2")
    #expect(answer.next == nil)
    #expect(try verifier.decide([answer], at: Timestamp(milliseconds: now)).entitled)
  }

  @Test("TRI-12 the transaction id that a JWS claims, and none of anything else")
  func unverifiedId() throws {
    let verifier = try VerifierTests.verifier()
    let id = try verifier.extractUnverifiedTransactionId(VerifierTests.jws(), at: Self.now)
    #expect(id == Purchase(now: Self.now.milliseconds).transactionId)
    #expect(try verifier.extractUnverifiedTransactionId("hello", at: Self.now) == nil)
  }
}
