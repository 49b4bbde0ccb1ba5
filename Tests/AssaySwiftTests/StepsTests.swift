import Testing

@testable import Assay
@testable import AssaySwift

/// Tests an exchange whose steps are performed.
@Suite("Typed exchanges")
struct StepsTests {
  private static let now = Timestamp(milliseconds: 1_795_219_200_000)

  private func begin() throws -> AssaySwift.Exchange {
    let verifier = try AssaySwift.Verifier(
      #"{"apps":[{"bundleId":"com.example.app","appAppleId":1}]}"#)
    return try verifier.exchange(
      ["operation": "call-verify-receipt", "receipt": "MIAGCSqGSIb3DQEHAqCAMIAAAAAA"], at: Self.now)
  }

  @Test("a step that is answered leads to the next; a misused one changes nothing")
  func goesOn() throws {
    let exchange = try begin()
    #expect(!exchange.isDone)
    #expect(exchange.stepName == "http")
    #expect(exchange.document.integer("exchange.http.id") == 1)
    let misused: [AssaySwift.JSON] = [
      ["id": 2, "status": 0, "body": nil], ["id": 1], ["id": 1, "status": "0", "body": nil],
    ]
    for answer in misused {
      #expect(throws: AssayError.self) { try exchange.step(answer, at: Self.now) }
      #expect(!exchange.isDone)
      #expect(exchange.stepName == "http")
    }
    let wait = try exchange.step(["id": 1, "status": 0, "body": nil], at: Self.now)
    #expect(!exchange.isDone)
    #expect(exchange.document === wait)
    #expect(exchange.stepName == "wait")
    #expect(wait.integer("exchange.notBeforeMs") == Self.now.milliseconds + 1000)
  }

  @Test("a refused end is an answer, and nothing follows it")
  func refusedEnd() throws {
    let exchange = try begin()
    let answer: AssaySwift.JSON = [
      "id": 1, "status": 200, "body": ["text": #"{"status":21003}"#],
    ]
    let result = try exchange.step(answer, at: Self.now)
    #expect(exchange.isDone)
    #expect(exchange.stepName == "done")
    #expect(result.status == .rejectedVerifyReceiptNotAuthentic)
    #expect(result.status.family == .rejected)
    #expect(throws: AssayError.self) { try exchange.step(answer, at: Self.now) }
    #expect(exchange.document === result)
  }
}
