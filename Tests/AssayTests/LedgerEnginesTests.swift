import AssayAuthority
import Testing

@testable import Assay

/// Tests that a SQL engine and DynamoDB give equal results (docs/spec/ledger.md §5.1 … §5.5).
@Suite("Stores: claims and lines, whatever the engine")
struct LedgerEnginesTests {
  // MARK: claims

  private func claim(
    _ fixture: LedgerFixture, _ evidence: Document, now: Int64 = Minted.now,
    _ more: [(String, JSONText)] = []
  ) throws -> Document {
    let request: JSONText = [
      "operation": "claim", "account": "ann", "attemptId": fixture.attempt(),
    ]
    return try fixture.run(request.setting(more), [evidence], now: now)
  }

  private func complete(
    _ fixture: LedgerFixture, _ claimed: Document, now: Int64 = Minted.now
  ) throws -> Document {
    try fixture.run(try claimed.completion(), now: now)
  }

  private func revoke(_ fixture: LedgerFixture, _ signed: Int64) throws -> Document {
    try fixture.run(
      ["operation": "revoke"], [try fixture.transaction(signed: signed, revoked: RefundShare.full)])
  }

  @Test(
    "STO-26 an attempt during the lease waits, one after it resumes, the late one is out",
    arguments: LedgerFixture.Engine.allCases)
  func lease(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let evidence = try fixture.transaction()
    let first = try claim(fixture, evidence)
    let waiting = try claim(fixture, evidence, now: Minted.now + 59_999)
    expect(waiting, "in-progress", "unavailable.claim.in-progress", answer: "deferred")
    checkEqual(waiting.integer("exchange.claims.0.retryAfterMs"), 1)
    let resumed = try claim(fixture, evidence, now: Minted.now + 60_000)
    expect(resumed, "resume", "ok")
    checkEqual(
      resumed.text("exchange.claims.0.grantId"), first.text("exchange.claims.0.grantId"))
    checkEqual(resumed.integer("exchange.claims.0.fencingToken"), 2)
    expect(
      try complete(fixture, first, now: Minted.now + 60_001), "superseded",
      "rejected.claim.superseded", answer: "deferred")
    expect(
      try complete(fixture, resumed, now: Minted.now + 60_001), "granted", "ok",
      answer: "granted")
  }

  @Test(
    "STO-27 under hold a lease that is over is left to a person",
    arguments: LedgerFixture.Engine.allCases)
  func hold(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine, [("ledger.onExpiredLease", "hold")])
    let evidence = try fixture.transaction()
    _ = try claim(fixture, evidence)
    let late = Minted.now + 60_000
    expect(
      try claim(fixture, evidence, now: late), "held", "unavailable.claim.held",
      answer: "deferred")
    let listed = try fixture.run(
      ["operation": "resume-expired", "attemptId": fixture.attempt()], now: late)
    checkEqual(listed.text("exchange.held.0.account"), "ann")
    check(listed.text("exchange.claims.0.account") == nil)
    expect(try claim(fixture, evidence, now: late, [("resolution", "not-granted")]), "resume", "ok")
  }

  @Test(
    "RFD-1 a refund takes back, blocks the older text, and its reversal grants anew",
    arguments: LedgerFixture.Engine.allCases)
  func refund(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let evidence = try fixture.transaction()
    let first = try claim(fixture, evidence)
    _ = try complete(fixture, first)
    let revoked = try revoke(fixture, 1000)
    checkEqual(revoked.name, "ok")
    checkEqual(revoked.text("exchange.revocations.0.outcome"), "was-granted")
    checkEqual(revoked.text("exchange.revocations.0.account"), "ann")
    try checkEqual(revoke(fixture, 1000).text("exchange.revocations.0.outcome"), "already")
    let older = try claim(fixture, evidence)
    expect(older, "revoked", "rejected.purchase.revoked", answer: "refused-final")
    checkEqual(older.text("error.rule"), "RFD-3")
    let late = try complete(fixture, first)
    expect(late, "revoked", "rejected.purchase.revoked", answer: "refused-final")
    checkEqual(late.text("error.rule"), "RFD-3")
    let resumed = try claim(fixture, try fixture.transaction(signed: 2000))
    expect(resumed, "resume", "ok")
    check(
      resumed.text("exchange.claims.0.grantId") != first.text("exchange.claims.0.grantId"))
    expect(
      try complete(fixture, first), "superseded", "rejected.claim.superseded",
      answer: "deferred")
    expect(try complete(fixture, resumed), "granted", "ok", answer: "granted")
  }

  @Test(
    "RFD-2 what was signed before the latest refund opens nothing, in whichever order they come",
    arguments: LedgerFixture.Engine.allCases)
  func refundedAgain(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    _ = try complete(fixture, try claim(fixture, try fixture.transaction()))
    try checkEqual(revoke(fixture, 1000).text("exchange.revocations.0.outcome"), "was-granted")
    try checkEqual(revoke(fixture, 3000).text("exchange.revocations.0.outcome"), "already")
    // The reversal of the first refund arrives late.
    for signed in [2000, 2999] as [Int64] {
      expect(
        try claim(fixture, try fixture.transaction(signed: signed)), "revoked",
        "rejected.purchase.revoked", answer: "refused-final")
      try checkEqual(revoke(fixture, 1500).text("exchange.revocations.0.outcome"), "already")
    }
    expect(try claim(fixture, try fixture.transaction(signed: 3001)), "resume", "ok")
  }

  // MARK: lines

  private func month(
    _ fixture: LedgerFixture, signed: Int64 = 0, revoked: Bool = false
  ) throws -> Document {
    try fixture.transaction(
      SQLiteStore.premium, signed: signed, revoked: revoked ? RefundShare.full : nil)
  }

  private func apply(
    _ fixture: LedgerFixture, _ account: String?, _ evidence: Document
  ) throws -> Document {
    var request: JSONText = ["operation": "update-subscriptions"]
    if let account { request = request.setting([("account", .string(account))]) }
    return try fixture.run(request, [evidence])
  }

  private func plan(_ fixture: LedgerFixture, _ account: String) throws -> String? {
    try fixture.run(["operation": "get-plan", "account": .string(account)])
      .text("exchange.plan")
  }

  private func outcome(_ document: Document) -> String? {
    document.text("exchange.subscriptions.0.outcome")
  }

  @Test(
    "STO-41 a refund wins a tie and stays: the older text does not bring the plan back",
    arguments: LedgerFixture.Engine.allCases)
  func tombstone(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try checkEqual(apply(fixture, "ann", month(fixture)).text("exchange.plan"), "premium")
    checkEqual(outcome(try apply(fixture, nil, month(fixture, revoked: true))), "applied")
    try checkEqual(plan(fixture, "ann"), "free")
    let older = try apply(fixture, "ann", month(fixture))
    checkEqual(outcome(older), "stale")
    checkEqual(older.text("exchange.plan"), "free")
    let reversed = try month(fixture, signed: 2000)
    try checkEqual(apply(fixture, "ann", reversed).text("exchange.plan"), "premium")
  }

  @Test(
    "STO-42 the first account owns the line, also one that a notification made",
    arguments: LedgerFixture.Engine.allCases)
  func owner(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    checkEqual(outcome(try apply(fixture, nil, month(fixture, signed: 500))), "applied")
    let bound = try apply(fixture, "ann", month(fixture))
    checkEqual(outcome(bound), "stale")
    checkEqual(bound.text("exchange.plan"), "premium")
    let refused = try apply(fixture, "bob", month(fixture, signed: 600))
    checkEqual(refused.name, "rejected.subscription.other-account")
    checkEqual(refused.text("exchange.plan"), "free")
    try checkEqual(plan(fixture, "bob"), "free")
  }

  @Test(
    "STO-46 clear lowers, the same evidence restores; keep changes nothing",
    arguments: LedgerFixture.Engine.allCases)
  func clear(_ engine: LedgerFixture.Engine) throws {
    let request: JSONText = ["operation": "deactivate-subscriptions", "account": "ann"]
    let fixture = try LedgerFixture(engine)
    let evidence = try month(fixture)
    _ = try apply(fixture, "ann", evidence)
    let cleared = try fixture.run(request)
    checkEqual(cleared.text("exchange.plan"), "free")
    checkEqual(cleared.integer("exchange.deactivated"), 1)
    try checkEqual(plan(fixture, "ann"), "free")
    let restored = try apply(fixture, "ann", evidence)
    checkEqual(restored.text("exchange.plan"), "premium")
    checkEqual(restored.flag("exchange.changed"), true)
    let kept = try LedgerFixture(engine, [("ledger.onNoPurchases", "keep")])
    _ = try apply(kept, "ann", month(kept))
    try checkEqual(kept.run(request).text("exchange.plan"), "premium")
  }
}
