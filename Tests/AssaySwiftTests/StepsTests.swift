import Testing

@testable import Assay
@testable import AssaySwift

/// An exchange whose steps are carried out: the library's kinds are done at once, so this
/// one exists only here.
@Suite("Typed exchanges")
struct StepsTests {
  private static let now = Timestamp(milliseconds: 1_795_219_200_000)

  /// Asks once, and reports what it was told; 13 is refused.
  private final class Rehearsal: Conversation {
    init() { super.init(kind: "rehearsal") }

    override func begin(nowMs: Int64) throws(Assay.Refusal) -> ExchangeMove {
      .step(
        ExchangeStep(
          id: 1, state: "request", status: Status(.pending, 2), answerMembers: ["value"]
        ) { $0.member("question", integer: 6) })
    }

    override func take(
      _ answer: ExchangeAnswer, nowMs: Int64
    ) throws(Assay.Refusal) -> ExchangeMove {
      guard let value = answer["value"]?.value.integer else {
        throw Assay.Refusal(.misuseExchangeAnswer, "EXC-5", at: "value")
      }
      try require(value != 13, .rejectedDevicecheckRequest, "EXC-7", at: "value")
      let documents = ExchangeDocument(kind: kind, configuration: [1, 2])
      return .done(documents.done { $0.member("told", integer: value) })
    }
  }

  private func begin() -> AssaySwift.Exchange {
    let (exchange, document) = Assay.Exchange.begin(
      Rehearsal(), configuration: [1, 2], nowMs: Self.now.milliseconds)
    return AssaySwift.Exchange(exchange, document)
  }

  @Test("a step that is answered ends it; a misused one changes nothing")
  func goesOn() throws {
    let exchange = begin()
    #expect(!exchange.isDone)
    #expect(exchange.state == "request")
    #expect(exchange.document.integer("exchange.question") == 6)
    let misused: [AssaySwift.JSON] = [["id": 2, "value": 7], ["id": 1], ["id": 1, "value": "7"]]
    for answer in misused {
      #expect(throws: AssaySwift.Refusal.self) { try exchange.step(answer, at: Self.now) }
      #expect(!exchange.isDone)
      #expect(exchange.state == "request")
    }
    let result = try exchange.step(["id": 1, "value": 7], at: Self.now)
    #expect(exchange.isDone)
    #expect(exchange.document === result)
    #expect(exchange.state == "done")
    #expect(result.integer("exchange.told") == 7)
    #expect(throws: AssaySwift.Refusal.self) {
      try exchange.step(["id": 1, "value": 7], at: Self.now)
    }
    #expect(exchange.document === result)
  }

  @Test("a refused end is an answer")
  func refusedEnd() throws {
    let exchange = begin()
    let result = try exchange.step(["id": 1, "value": 13], at: Self.now)
    #expect(exchange.isDone)
    #expect(result.status == .rejectedDevicecheckRequest)
    #expect(result.status.family == .rejected)
  }
}
