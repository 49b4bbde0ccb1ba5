import AssayAuthority
import Testing

@testable import Assay

/// Tests that a SQL engine and DynamoDB give equal results (docs/spec/ledger.md §5.1 … §5.5).
@Suite("Stores: claims and lines, whatever the engine")
struct StoreEnginesTests {
  // MARK: claims

  private func claim(
    _ bench: StoreBench, _ evidence: Document, now: Int64 = Minted.now,
    _ more: [(String, JSONText)] = []
  ) throws -> Document {
    let request: JSONText = ["operation": "claim", "account": "ann", "attemptId": bench.attempt()]
    return try bench.run(request.setting(more), [evidence], now: now)
  }

  private func complete(
    _ bench: StoreBench, _ claimed: Document, now: Int64 = Minted.now
  ) throws -> Document {
    try bench.run(try claimed.completion(), now: now)
  }

  private func revoke(_ bench: StoreBench, _ signed: Int64) throws -> Document {
    try bench.run(
      ["operation": "revoke"], [try bench.transaction(signed: signed, revoked: RefundShare.full)])
  }

  @Test(
    "STO-26 an attempt during the lease waits, one after it resumes, the late one is out",
    arguments: StoreBench.Engine.allCases)
  func lease(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine)
    let evidence = try bench.transaction()
    let first = try claim(bench, evidence)
    let waiting = try claim(bench, evidence, now: Minted.now + 59_999)
    expect(waiting, "in-progress", "unavailable.claim.in-progress", answer: "deferred")
    checkEqual(waiting.integer("exchange.claims.0.retryAfterMs"), 1)
    let resumed = try claim(bench, evidence, now: Minted.now + 60_000)
    expect(resumed, "resume", "ok")
    checkEqual(
      resumed.text("exchange.claims.0.grantId"), first.text("exchange.claims.0.grantId"))
    checkEqual(resumed.integer("exchange.claims.0.fencingToken"), 2)
    expect(
      try complete(bench, first, now: Minted.now + 60_001), "superseded",
      "rejected.claim.superseded", answer: "deferred")
    expect(
      try complete(bench, resumed, now: Minted.now + 60_001), "granted", "ok",
      answer: "granted")
  }

  @Test(
    "STO-27 under hold a lease that is over is left to a person",
    arguments: StoreBench.Engine.allCases)
  func hold(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine, [("ledger.onExpiredLease", "hold")])
    let evidence = try bench.transaction()
    _ = try claim(bench, evidence)
    let late = Minted.now + 60_000
    expect(
      try claim(bench, evidence, now: late), "held", "unavailable.claim.held",
      answer: "deferred")
    let listed = try bench.run(
      ["operation": "resume-expired", "attemptId": bench.attempt()], now: late)
    checkEqual(listed.text("exchange.held.0.account"), "ann")
    check(listed.text("exchange.claims.0.account") == nil)
    expect(try claim(bench, evidence, now: late, [("resolution", "not-granted")]), "resume", "ok")
  }

  @Test(
    "RFD-1 a refund takes back, blocks the older text, and its reversal grants anew",
    arguments: StoreBench.Engine.allCases)
  func refund(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine)
    let evidence = try bench.transaction()
    let first = try claim(bench, evidence)
    _ = try complete(bench, first)
    let revoked = try revoke(bench, 1000)
    checkEqual(revoked.name, "ok")
    checkEqual(revoked.text("exchange.revocations.0.outcome"), "was-granted")
    checkEqual(revoked.text("exchange.revocations.0.account"), "ann")
    try checkEqual(revoke(bench, 1000).text("exchange.revocations.0.outcome"), "already")
    let older = try claim(bench, evidence)
    expect(older, "revoked", "rejected.purchase.revoked", answer: "refused-final")
    checkEqual(older.text("error.rule"), "RFD-3")
    let late = try complete(bench, first)
    expect(late, "revoked", "rejected.purchase.revoked", answer: "refused-final")
    checkEqual(late.text("error.rule"), "RFD-3")
    let resumed = try claim(bench, try bench.transaction(signed: 2000))
    expect(resumed, "resume", "ok")
    check(
      resumed.text("exchange.claims.0.grantId") != first.text("exchange.claims.0.grantId"))
    expect(
      try complete(bench, first), "superseded", "rejected.claim.superseded",
      answer: "deferred")
    expect(try complete(bench, resumed), "granted", "ok", answer: "granted")
  }

  @Test(
    "RFD-2 what was signed before the latest refund opens nothing, in whichever order they come",
    arguments: StoreBench.Engine.allCases)
  func refundedAgain(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine)
    _ = try complete(bench, try claim(bench, try bench.transaction()))
    try checkEqual(revoke(bench, 1000).text("exchange.revocations.0.outcome"), "was-granted")
    try checkEqual(revoke(bench, 3000).text("exchange.revocations.0.outcome"), "already")
    // The reversal of the first refund arrives late.
    for signed in [2000, 2999] as [Int64] {
      expect(
        try claim(bench, try bench.transaction(signed: signed)), "revoked",
        "rejected.purchase.revoked", answer: "refused-final")
      try checkEqual(revoke(bench, 1500).text("exchange.revocations.0.outcome"), "already")
    }
    expect(try claim(bench, try bench.transaction(signed: 3001)), "resume", "ok")
  }

  // MARK: lines

  private func month(
    _ bench: StoreBench, signed: Int64 = 0, revoked: Bool = false
  ) throws -> Document {
    try bench.transaction(
      SQLiteStore.premium, signed: signed, revoked: revoked ? RefundShare.full : nil)
  }

  private func apply(
    _ bench: StoreBench, _ account: String?, _ evidence: Document
  ) throws -> Document {
    var request: JSONText = ["operation": "update-subscriptions"]
    if let account { request = request.setting([("account", .string(account))]) }
    return try bench.run(request, [evidence])
  }

  private func plan(_ bench: StoreBench, _ account: String) throws -> String? {
    try bench.run(["operation": "get-plan", "account": .string(account)])
      .text("exchange.plan")
  }

  private func outcome(_ document: Document) -> String? {
    document.text("exchange.subscriptions.0.outcome")
  }

  @Test(
    "STO-41 a refund wins a tie and stays: the older text does not bring the plan back",
    arguments: StoreBench.Engine.allCases)
  func tombstone(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine)
    try checkEqual(apply(bench, "ann", month(bench)).text("exchange.plan"), "premium")
    checkEqual(outcome(try apply(bench, nil, month(bench, revoked: true))), "applied")
    try checkEqual(plan(bench, "ann"), "free")
    let older = try apply(bench, "ann", month(bench))
    checkEqual(outcome(older), "stale")
    checkEqual(older.text("exchange.plan"), "free")
    let reversed = try month(bench, signed: 2000)
    try checkEqual(apply(bench, "ann", reversed).text("exchange.plan"), "premium")
  }

  @Test(
    "STO-42 the first account owns the line, also one that a notification made",
    arguments: StoreBench.Engine.allCases)
  func owner(_ engine: StoreBench.Engine) throws {
    let bench = try StoreBench(engine)
    checkEqual(outcome(try apply(bench, nil, month(bench, signed: 500))), "applied")
    let bound = try apply(bench, "ann", month(bench))
    checkEqual(outcome(bound), "stale")
    checkEqual(bound.text("exchange.plan"), "premium")
    let refused = try apply(bench, "bob", month(bench, signed: 600))
    checkEqual(refused.name, "rejected.subscription.other-account")
    checkEqual(refused.text("exchange.plan"), "free")
    try checkEqual(plan(bench, "bob"), "free")
  }

  @Test(
    "STO-46 clear lowers, the same evidence restores; keep changes nothing",
    arguments: StoreBench.Engine.allCases)
  func clear(_ engine: StoreBench.Engine) throws {
    let request: JSONText = ["operation": "deactivate-subscriptions", "account": "ann"]
    let bench = try StoreBench(engine)
    let evidence = try month(bench)
    _ = try apply(bench, "ann", evidence)
    let cleared = try bench.run(request)
    checkEqual(cleared.text("exchange.plan"), "free")
    checkEqual(cleared.integer("exchange.deactivated"), 1)
    try checkEqual(plan(bench, "ann"), "free")
    let restored = try apply(bench, "ann", evidence)
    checkEqual(restored.text("exchange.plan"), "premium")
    checkEqual(restored.flag("exchange.changed"), true)
    let kept = try StoreBench(engine, [("ledger.onNoPurchases", "keep")])
    _ = try apply(kept, "ann", month(kept))
    try checkEqual(kept.run(request).text("exchange.plan"), "premium")
  }
}
