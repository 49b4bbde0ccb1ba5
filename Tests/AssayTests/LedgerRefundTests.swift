import AssayAuthority
import Testing

@testable import Assay

/// Tests what becomes of a case, without a database (docs/spec/refund-answers.md §1).
@Suite("Stores: refund answers")
struct LedgerRefundTests {
  private func row(asked askedAtMs: Int64 = 0, decided outcomeAtMs: Int64 = 0) -> RefundRow {
    var row = RefundRow(
      id: "Production/1", environment: "Production", bundleId: "com.example.app",
      transactionId: "1", originalTransactionId: "1", product: "coins", type: "Consumable",
      ownership: "PURCHASED", purchasedAtMs: 1)
    if askedAtMs > 0 {
      row.notificationId = Text(String(askedAtMs))
      row.askedAtMs = askedAtMs
      row.state = .open
    }
    if outcomeAtMs > 0 {
      row.outcome = outcomeAtMs == 20 ? .refunded : .declined
      row.outcomeAtMs = outcomeAtMs
    }
    return row
  }

  private func after(_ changes: [RefundChange], _ start: RefundRow? = nil) -> RefundRow? {
    var row = start
    for change in changes {
      guard let before = row ?? change.blank else { continue }
      row = change.next(before) ?? row
    }
    return row
  }

  private func orders<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { place -> [[Element]] in
      var rest = elements
      let first = rest.remove(at: place)
      return orders(rest).map { [first] + $0 }
    }
  }

  private struct End: Equatable {
    let state: RefundRow.State
    let askedAtMs: Int64
    let outcome: RefundOutcome?
    let outcomeAtMs: Int64
  }

  private func end(_ row: RefundRow?) -> End? {
    row.map {
      End(
        state: $0.state, askedAtMs: $0.askedAtMs, outcome: $0.outcome,
        outcomeAtMs: $0.outcomeAtMs)
    }
  }

  @Test("RFA-1 RFA-47 in any order the newest question and the newest decision count")
  func anyOrder() {
    let questions: [RefundChange] = [.ask(row(asked: 10)), .ask(row(asked: 30))]
    let first = questions + [.decide(row(decided: 20))]
    for order in orders(first + first.suffix(1)) {
      checkEqual(
        end(after(order)), End(state: .open, askedAtMs: 30, outcome: nil, outcomeAtMs: 20))
    }
    for order in orders(first + [.decide(row(decided: 40)), questions[1]]) {
      checkEqual(
        end(after(order)),
        End(state: .decided, askedAtMs: 30, outcome: .declined, outcomeAtMs: 40))
    }
  }

  @Test("RFA-1 a retry that was signed anew is the same question")
  func retried() {
    var retry = row(asked: 50)
    retry.notificationId = row(asked: 10).notificationId
    checkEqual(after([.ask(row(asked: 10)), .ask(retry)])?.askedAtMs, 10)
  }

  private func settled(_ result: RefundSettlement.Result, _ row: RefundRow) throws -> RefundChange {
    let said = try #require(
      RefundSaid(rules: "RFA-13", delivery: nil, percentage: 0, preference: "GRANT_FULL"))
    return .settle(
      row.id, RefundSettlement(dueAtMs: row.dueAtMs, said: said, result: result, nowMs: 100))
  }

  @Test("RFA-6 what was sent counts, whatever was stored before it")
  func sent() throws {
    let asked = row(asked: 10)
    let (silent, sent) = (try settled(.silent, asked), try settled(.sent, asked))
    for order in orders([silent, sent, sent]) {
      let found = after(order, asked)
      checkEqual(found?.state, .sent)
      checkEqual(found?.sentAtMs, 100)
    }
    let decided = after([.decide(row(decided: 20)), sent, silent], asked)
    checkEqual(decided?.state, .decided)
    checkEqual(decided?.sentAtMs, 100)
    // A newer question knows nothing of the answer to the older one.
    let newer = after([sent, .ask(row(asked: 30)), sent, silent], asked)
    checkEqual(newer?.state, .open)
    checkEqual(newer?.sentAtMs, nil)
  }

  @Test("RFA-6 a case waits until its time, and at most until Apple's is over")
  func waiting() throws {
    let asked = row(asked: 10)
    for (untilMs, leaseMs) in [(500, 500), (.max, asked.dueAtMs)] as [(Int64, Int64)] {
      let found = after([try settled(.wait(untilMs: untilMs), asked)], asked)
      checkEqual(found?.state, .open)
      checkEqual(found?.leaseMs, leaseMs)
    }
    checkEqual(after([try settled(.unavailable, asked)], asked)?.leaseMs, 0)
  }
}
