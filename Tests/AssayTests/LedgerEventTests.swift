import AssayAuthority
import Testing

@testable import Assay

/// Tests refunds, their reversals and take-backs by the host, on a SQL engine and on DynamoDB
/// (docs/spec/ledger.md §5.3).
@Suite("Stores: events and take-backs")
struct LedgerEventTests {
  // MARK: every order

  private enum Event: CaseIterable { case claim, refund, reversal }

  /// Returns all orders of the elements, each once.
  private static func orders(_ rest: [Event]) -> [[Event]] {
    guard !rest.isEmpty else { return [[]] }
    return Event.allCases.flatMap { event -> [[Event]] in
      guard let place = rest.firstIndex(of: event) else { return [] }
      var others = rest
      others.remove(at: place)
      return orders(others).map { [event] + $0 }
    }
  }

  @Test(
    "STO-33 STO-34 STO-35 claim, refund and reversal twice each, in every order: the newest stands",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease", "transaction"])
  func everyOrder(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let all = Self.orders([.claim, .claim, .refund, .refund, .reversal, .reversal])
    checkEqual(all.count, 90)
    for order in all {
      let fixture = try LedgerFixture(engine)
      let bought = try fixture.transaction()
      let refund = try fixture.notification("REFUND", signed: 1000, revoked: RefundShare.full)
      let reversal = try fixture.notification("REFUND_REVERSED", signed: 2000)
      var newest: Int64 = 0
      for event in order {
        switch event {
        case .claim: try fixture.claim(bought, mode: mode)
        case .refund:
          try fixture.event(refund, mode: mode)
          newest = max(newest, 1000)
        case .reversal:
          try fixture.event(reversal, mode: mode)
          newest = 2000
        }
        // Never more than one grant is out, and the wallet agrees with the row.
        let row = try fixture.row()
        checkEqual(fixture.coins, row?.out ?? 0, "\(order)")
        check(fixture.coins == 0 || fixture.coins == 100, "\(order)")
        if newest == 1000, let row { check(row.state == "revoked" && row.out == 0, "\(order)") }
      }
      // When no refund is newer, the customer who claims again has the goods.
      try fixture.claim(bought, mode: mode)
      let end = try require(try fixture.row())
      check(end.state == "granted" && end.out == 100 && fixture.coins == 100, "\(order)")
    }
  }

  // MARK: one thing each

  @Test(
    "STO-33 a newer word raises the row that it changes nothing of",
    arguments: LedgerFixture.Engine.allCases)
  func raised(_ engine: LedgerFixture.Engine) throws {
    for shown in ["own claim", "other's claim", "event", "notification"] {
      let fixture = try LedgerFixture(engine)
      try fixture.claim(try fixture.transaction())
      let newer = try fixture.transaction(signed: 2000)
      switch shown {
      case "own claim": try fixture.claim(newer)
      case "other's claim": try fixture.claim(newer, by: "bob")
      case "event":
        try fixture.run(["operation": "claim", "attemptId": fixture.attempt()], [newer])
      default: try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 2000))
      }
      let late = try fixture.event(
        try fixture.notification("REFUND", signed: 1000, revoked: RefundShare.full))
      checkEqual(late.name, "ok")
      check(late.text("exchange.take.0.takeId") == nil, "\(shown)")
      try checkEqual(fixture.row()?.state, "granted", "\(shown)")
      checkEqual(fixture.coins, 100, "\(shown)")
      // A revocation wins over evidence of the same time.
      try fixture.event(try fixture.notification("REFUND", signed: 2000, revoked: RefundShare.full))
      try checkEqual(fixture.row()?.state, "revoked", "\(shown)")
      checkEqual(fixture.coins, 0, "\(shown)")
    }
  }

  @Test(
    "STO-33 a claimed row remembers it, too, whoever holds it",
    arguments: LedgerFixture.Engine.allCases)
  func raisedClaimed(_ engine: LedgerFixture.Engine) throws {
    for account in ["ann", "bob"] {
      let fixture = try LedgerFixture(engine)
      let first: JSONText = [
        "operation": "claim", "account": "ann", "attemptId": fixture.attempt(),
      ]
      let bought = try fixture.transaction()
      try fixture.run(first, [bought])
      let other: JSONText = [
        "operation": "claim", "account": .string(account), "attemptId": fixture.attempt(),
      ]
      try fixture.run(other, [try fixture.transaction(signed: 2000)])
      let late = try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt()],
        [try fixture.transaction(signed: 1000, revoked: RefundShare.full)])
      checkEqual(late.text("exchange.revocations.0.outcome"), "stale")
      // The attempt id of the first claim is still valid for its own evidence.
      try checkEqual(fixture.run(first, [bought]).text("exchange.outcome"), "new")
    }
  }

  @Test(
    "STO-35 what asks for nothing carries no take and no grant id",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease", "transaction"])
  func nothingToTake(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    func revoke(_ signed: Int64, _ product: String = LedgerFixture.pack) throws -> Document {
      try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode)],
        [try fixture.transaction(product, signed: signed, revoked: RefundShare.full)])
    }
    func expect(_ document: Document, _ outcome: String, takes: Bool = false) {
      checkEqual(document.text("exchange.revocations.0.outcome"), outcome)
      checkEqual(document.text("exchange.revocations.0.take.takeId") != nil, takes, "\(outcome)")
      checkEqual(document.text("exchange.revocations.0.grantId") != nil, takes, "\(outcome)")
    }
    expect(try revoke(10), "unclaimed")
    expect(try revoke(10), "already")
    let reversed = try fixture.transaction(signed: 20)
    let claimed: JSONText = [
      "operation": "claim", "account": "ann", "attemptId": fixture.attempt(),
    ]
    try fixture.run(claimed, [reversed])
    expect(try revoke(15), "stale")
    expect(try revoke(30), "was-claimed")
    try fixture.claim(try fixture.transaction(signed: 40), mode: mode)
    expect(try revoke(50), "was-granted", takes: true)
    expect(try revoke(50), "already")
    expect(try revoke(45), "already")
  }

  @Test(
    "STO-35 the same attempt finds its own revocation after a lost answer",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease"])
  func ownAttempt(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let refund = try fixture.transaction(signed: 10, revoked: RefundShare.full)
    let request: JSONText = [
      "operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode),
    ]
    let first = try fixture.run(request, [refund])
    let again = try fixture.run(request, [refund])
    for document in [first, again] {
      checkEqual(document.text("exchange.revocations.0.outcome"), "was-granted")
      checkEqual(document.integer("exchange.revocations.0.take.units"), 100)
    }
    checkEqual(
      first.text("exchange.revocations.0.take.takeId"),
      again.text("exchange.revocations.0.take.takeId"))
    let others = try fixture.run(
      ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode)], [refund])
    checkEqual(others.text("exchange.revocations.0.outcome"), "already")
    check(others.text("exchange.revocations.0.take.takeId") == nil)
    // Without an attempt id, a repeated call counts as another delivery.
    try checkEqual(
      fixture.run(["operation": "revoke"], [refund]).text("exchange.revocations.0.outcome"),
      "already"
    )
  }

  @Test(
    "STO-35 a take-back that nobody confirmed comes to the sweeper, and its late holder is out",
    arguments: LedgerFixture.Engine.allCases)
  func due(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let refund = try fixture.transaction(signed: 10, revoked: RefundShare.full)
    let first = try fixture.run(
      ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"], [refund])
    let place = "exchange.revocations.0.take"
    checkEqual(first.integer("\(place).fencingToken"), 2)
    checkEqual(first.integer("\(place).leaseExpiresAtMs"), Minted.now + 60_000)
    try checkEqual(fixture.row()?.out, 100)
    func sweep(_ now: Int64) throws -> Document {
      try fixture.run(
        ["operation": "resume-expired-revocations", "attemptId": fixture.attempt()], now: now)
    }
    try check(sweep(Minted.now + 59_999).text("exchange.takes.0.takeId") == nil)
    let late = Minted.now + 60_000
    let swept = try sweep(late)
    checkEqual(swept.text("exchange.takes.0.takeId"), first.text("\(place).takeId"))
    checkEqual(swept.integer("exchange.takes.0.units"), 100)
    checkEqual(swept.integer("exchange.takes.0.fencingToken"), 3)
    checkEqual(swept.flag("exchange.hasMore"), false)
    // While the take-back is held, another delivery takes nothing, and no claim is swept with it.
    let again = try fixture.run(
      ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"], [refund],
      now: late)
    check(again.text("exchange.revocations.0.take.takeId") == nil)
    try check(
      fixture.run(
        ["operation": "resume-expired", "attemptId": fixture.attempt()], now: late + 100_000
      )
      .text("exchange.claims.0.grantId") == nil)
    let superseded = try fixture.run(try fixture.complete(first, at: place), now: late)
    Exchanges.expect(superseded, "rejected.claim.superseded", at: "takeId", rule: "STO-35")
    try fixture.takeBack(swept, at: "exchange.takes.0", isLeased: true, now: late)
    try checkEqual(fixture.row()?.out, 0)
    let repeated = try fixture.run(try fixture.complete(swept, at: "exchange.takes.0"), now: late)
    check(repeated.name == "ok" && repeated.text("exchange.outcome") == "already")
    try check(sweep(late + 100_000).text("exchange.takes.0.takeId") == nil)
  }

  @Test(
    "STO-35 a delivery after the lease takes the take-back up again, under the same id",
    arguments: LedgerFixture.Engine.allCases)
  func takenUp(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let refund = try fixture.transaction(signed: 10, revoked: RefundShare.full)
    func revoke(_ now: Int64, _ mode: String = "lease") throws -> Document {
      try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode)],
        [refund],
        now: now)
    }
    let first = try revoke(Minted.now)
    let place = "exchange.revocations.0.take"
    try check(revoke(Minted.now + 59_999).text("\(place).takeId") == nil)
    // Under another mode the take-back stays with the holder of the lease.
    for mode in ["none", "transaction"] {
      try check(revoke(Minted.now + 60_000, mode).text("\(place).takeId") == nil)
    }
    let second = try revoke(Minted.now + 60_000)
    checkEqual(second.text("exchange.revocations.0.outcome"), "already")
    checkEqual(second.text("\(place).takeId"), first.text("\(place).takeId"))
    checkEqual(second.integer("\(place).fencingToken"), 3)
  }

  @Test(
    "STO-35 a reversal waits for the take-back that is under way",
    arguments: LedgerFixture.Engine.allCases)
  func pending(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let held = try fixture.run(
      ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"],
      [try fixture.transaction(signed: 10, revoked: RefundShare.full)])
    let reversal = try fixture.notification("REFUND_REVERSED", signed: 20)
    let waiting = try fixture.event(reversal, mode: "lease")
    Exchanges.expect(waiting, "unavailable.claim.in-progress", at: "purchases", rule: "STO-35")
    let claimed = try fixture.claim(try fixture.transaction(signed: 20))
    checkEqual(claimed.name, "unavailable.claim.in-progress")
    checkEqual(claimed.text("exchange.clientResult"), "deferred")
    checkEqual(fixture.coins, 100)
    try fixture.takeBack(held, at: "exchange.revocations.0.take", isLeased: true)
    checkEqual(fixture.coins, 0)
    let given = try fixture.event(reversal, mode: "lease")
    checkEqual(given.integer("exchange.give.0.units"), 100)
    checkEqual(given.text("exchange.give.0.account"), "ann")
    checkEqual(fixture.coins, 100)
  }

  @Test(
    "STO-35 STO-36 a share takes back so many units, more the rest, a reversal gives as many",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease", "transaction"])
  func shares(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction(), mode: mode)
    checkEqual(fixture.coins, 100)
    for (signed, share, left) in [
      (10, 30_000, 70), (20, 67_932, 32), (25, 20_000, 32), (30, 100_000, 0),
    ] as [(Int64, Int64, Int64)] {
      try fixture.event(
        try fixture.notification("REFUND", signed: signed, revoked: share), mode: mode)
      checkEqual(fixture.coins, left, "\(share)")
      try checkEqual(fixture.row()?.out, left, "\(share)")
    }
    try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 40), mode: mode)
    checkEqual(fixture.coins, 100)
    try fixture.event(
      try fixture.notification("REFUND", signed: 50, revoked: 40_000), mode: mode)
    checkEqual(fixture.coins, 60)
    // The remaining units stay, and only the taken ones are granted again.
    let reversed = try fixture.claim(try fixture.transaction(signed: 60), mode: mode)
    checkEqual(reversed.integer("exchange.claims.0.units"), 40)
    checkEqual(fixture.coins, 100)
  }

  @Test(
    "RFD-2 STO-35 a later refund counts while a take-back is pending",
    arguments: LedgerFixture.Engine.allCases)
  func laterWhilePending(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    func revoke(_ signed: Int64) throws -> Document {
      try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"],
        [try fixture.transaction(signed: signed, revoked: RefundShare.full)])
    }
    let first = try revoke(10)
    try checkEqual(revoke(30).text("exchange.revocations.0.outcome"), "already")
    try fixture.takeBack(first, at: "exchange.revocations.0.take", isLeased: true)
    try checkEqual(fixture.row()?.asOfMs, 30)
    try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 20))
    try check(fixture.row()?.state == "revoked" && fixture.coins == 0)
  }

  @Test(
    "STO-35 another delivery does not hide a take-back from the attempt that was told it",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease"])
  func notHidden(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let refund = try fixture.transaction(signed: 10, revoked: RefundShare.full)
    let request: JSONText = [
      "operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode),
    ]
    try fixture.run(request, [refund])
    for signed in [10, 20] as [Int64] {
      let other = try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": .string(mode)],
        [try fixture.transaction(signed: signed, revoked: RefundShare.full)])
      check(other.text("exchange.revocations.0.take.takeId") == nil)
    }
    let again = try fixture.run(request, [refund])
    checkEqual(again.integer("exchange.revocations.0.take.units"), 100)
  }

  @Test(
    "STO-35 a larger share waits for the take-back that is under way",
    arguments: LedgerFixture.Engine.allCases)
  func largerShare(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    func revoke(_ signed: Int64, _ share: Int64) throws -> Document {
      try fixture.run(
        ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"],
        [try fixture.transaction(signed: signed, revoked: share)])
    }
    let first = try revoke(10, 30_000)
    let place = "exchange.revocations.0.take"
    checkEqual(first.integer("\(place).units"), 30)
    let larger = try revoke(20, 50_000)
    Exchanges.expect(
      larger, "unavailable.claim.in-progress", at: "revocations", rule: "STO-35")
    checkEqual(larger.text("exchange.revocations.0.outcome"), "in-progress")
    try fixture.takeBack(first, at: place, isLeased: true)
    let rest = try revoke(20, 50_000)
    checkEqual(rest.integer("\(place).units"), 20)
    try fixture.takeBack(rest, at: place, isLeased: true)
    checkEqual(fixture.coins, 50)
  }

  @Test(
    "STO-36 where nothing was taken back a reversal gives nothing",
    arguments: LedgerFixture.Engine.allCases, ["lease", "transaction"])
  func nothingGiven(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction(), mode: mode)
    let refund = try fixture.event(
      try fixture.notification("REFUND", signed: 10, revoked: 0), mode: mode)
    check(refund.text("exchange.take.0.takeId") == nil)
    let reversal = try fixture.event(
      try fixture.notification("REFUND_REVERSED", signed: 20), mode: mode)
    check(reversal.text("exchange.give.0.grantId") == nil)
    let row = try require(try fixture.row())
    check(row.state == "granted" && row.out == 100 && fixture.coins == 100)
  }

  @Test(
    "RFA-40 STO-35 a share that Apple does not tell takes nothing, until Apple tells it",
    arguments: LedgerFixture.Engine.allCases, ["none", "lease", "transaction"])
  func unknownShare(_ engine: LedgerFixture.Engine, _ mode: String) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction(), mode: mode)
    let refund = try fixture.event(
      try fixture.notification(
        "REFUND", signed: 10, revoked: RefundShare.full, revocationType: "REFUND_PRORATED"),
      mode: mode)
    checkEqual(refund.integer("exchange.take.0.units"), nil)
    try checkEqual(fixture.row()?.state, "revoked")
    checkEqual(fixture.coins, 100)
    try fixture.event(
      try fixture.notification(
        "REFUND", signed: 20, revoked: 30_000, revocationType: "REFUND_PRORATED"), mode: mode)
    checkEqual(fixture.coins, 70)
    try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 30), mode: mode)
    checkEqual(fixture.coins, 100)
    let full = try LedgerFixture(engine)
    try full.claim(try full.transaction(), mode: mode)
    try full.event(
      try full.notification(
        "REFUND", signed: 10, revoked: RefundShare.full, revocationType: "REFUND_FULL"),
      mode: mode)
    checkEqual(full.coins, 0)
  }

  @Test(
    "STO-35 of what gives access all is taken back, whatever the share",
    arguments: LedgerFixture.Engine.allCases)
  func access(_ engine: LedgerFixture.Engine) throws {
    for product in [SQLiteStore.lifetime, SQLiteStore.premium] {
      let fixture = try LedgerFixture(engine)
      try fixture.claim(try fixture.transaction(product))
      let refund = try fixture.event(
        try fixture.notification("REFUND", product, signed: 10, revoked: 30_000))
      checkEqual(refund.integer("exchange.take.0.units"), 1)
      try checkEqual(fixture.row()?.out, 0)
    }
  }

  @Test(
    "STO-35 what could not be taken stands in the audit, once",
    arguments: LedgerFixture.Engine.allCases)
  func debt(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.claim(try fixture.transaction())
    let refund = try fixture.run(
      ["operation": "revoke", "attemptId": fixture.attempt(), "grantMode": "lease"],
      [try fixture.transaction(signed: 10, revoked: RefundShare.full)])
    let request = try fixture.complete(refund, at: "exchange.revocations.0.take")
      .setting([("taken", 60)])
    let done = try fixture.run(request)
    check(done.text("exchange.outcome") == "taken" && done.integer("exchange.debt") == 40)
    try checkEqual(fixture.run(request).text("exchange.outcome"), "already")
    try checkEqual(fixture.row()?.out, 0)
    if engine == .sqlite {
      try checkEqual(
        fixture.sql("SELECT action, owner, note FROM assay_audit"), ["[\"debt\",\"ann\",\"40\"]"])
    }
  }

  @Test(
    "STO-35 a take id is one of these",
    arguments: [
      "", "x", String(repeating: "a", count: 64), String(repeating: "a", count: 64) + "-",
      String(repeating: "a", count: 64) + "--1", String(repeating: "a", count: 64) + "-1x",
      String(repeating: "a", count: 64) + "+12",
      String(repeating: "a", count: 64) + "-99999999999999999999",
    ])
  func takeIds(_ id: String) throws {
    let fixture = try LedgerFixture(.sqlite)
    let document = try fixture.run([
      "operation": "complete-revocation", "purchaseKey": "Sandbox/2000000900000001",
      "takeId": .string(id), "fencingToken": 1,
    ])
    checkEqual(document.name, "misuse.exchange.request")
    checkEqual(document.text("error.at"), "takeId")
  }

  @Test(
    "STO-37 what was handed out under a lease is not granted again in a transaction",
    arguments: LedgerFixture.Engine.allCases)
  func twoModes(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let bought = try fixture.transaction()
    let leased = try fixture.run(
      ["operation": "claim", "account": "ann", "attemptId": fixture.attempt()], [bought])
    checkEqual(leased.flag("exchange.claims.0.repeat"), false)
    let late = Minted.now + 60_000
    let held = try fixture.claim(bought, mode: "transaction", now: late)
    Exchanges.expect(held, "unavailable.claim.held", at: "claims", rule: "STO-27")
    checkEqual(held.text("exchange.clientResult"), "deferred")
    checkEqual(held.text("exchange.claims.0.reason"), "lease")
    checkEqual(fixture.coins, 0)
    // The sweeper finishes the claim, and reports that it was handed out before.
    let due = try fixture.run(
      ["operation": "resume-expired", "attemptId": fixture.attempt()], now: late)
    checkEqual(due.flag("exchange.claims.0.repeat"), true)
    let allowed = try fixture.claim(
      bought, mode: "transaction", now: late + 60_000, [("allowRepeat", true)])
    checkEqual(allowed.name, "ok")
    checkEqual(fixture.coins, 100)
  }

  @Test(
    "STO-37 what a transaction left behind is handed out by its own attempt under a lease",
    arguments: LedgerFixture.Engine.allCases)
  func halves(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 20))
    let bought = try fixture.transaction(signed: 20)
    let attempt = [("attemptId", fixture.attempt())]
    fixture.rollsBack = true
    try fixture.claim(bought, mode: "transaction", attempt)
    fixture.rollsBack = false
    let request: JSONText = ["operation": "claim", "account": "ann"]
    let leased = try fixture.run(request.setting(attempt), [bought])
    check(leased.text("exchange.claims.0.grantId") != nil)
    checkEqual(leased.flag("exchange.claims.0.repeat"), false)
    let held = try fixture.claim(bought, mode: "transaction", now: Minted.now + 60_000)
    Exchanges.expect(held, "unavailable.claim.held", at: "claims", rule: "STO-27")
    checkEqual(fixture.coins, 0)
  }

  @Test("STO-37 a transaction that is still open does not pay what its attempt got under a lease")
  func openTransaction() throws {
    let fixture = try LedgerFixture(.dynamodb)
    try fixture.event(try fixture.notification("REFUND_REVERSED", signed: 20))
    let bought = try fixture.transaction(signed: 20)
    let attempt = [("attemptId", fixture.attempt())]
    var fence: Int64?
    fixture.meanwhile = {
      let request: JSONText = ["operation": "claim", "account": "ann"]
      let leased = try fixture.run(request.setting(attempt), [bought])
      check(leased.text("exchange.claims.0.grantId") != nil)
      fence = leased.integer("exchange.claims.0.fencingToken")
    }
    let held = try fixture.claim(bought, mode: "transaction", attempt)
    checkEqual(fence, 2)
    Exchanges.expect(held, "unavailable.claim.held", at: "claims", rule: "STO-27")
    checkEqual(fixture.coins, 0)
  }

  @Test("STO-37 a transaction that rolled back was not handed out")
  func rolledBack() throws {
    let store = try SQLiteStore()
    let evidence = try store.transaction()
    let request: JSONText = [
      "operation": "claim", "account": "ann", "grantMode": "transaction",
      "attemptId": "attempt-0000000000000001",
    ]
    _ = try store.run(request, [evidence]) { _ in false }
    let done = try store.run(request, [evidence]) { document in
      document.flag("exchange.grant.repeat") == false
    }
    checkEqual(done.text("exchange.clientResult"), "granted")
  }

  @Test(
    "STO-34 the catalogue has no say in what is taken back",
    arguments: LedgerFixture.Engine.allCases)
  func withdrawn(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let refund = try fixture.event(
      try fixture.notification(
        "REFUND", "com.example.app.withdrawn", signed: 10, revoked: RefundShare.full))
    checkEqual(refund.name, "ok")
    try checkEqual(fixture.row()?.state, "revoked")
    checkEqual(refund.text("exchange.refused.0.at"), "subscription")
    checkEqual(refund.text("exchange.refused.0.status"), "rejected.product.unknown")
  }

  @Test(
    "STO-34 the line of a product that left the catalogue is revoked, too",
    arguments: LedgerFixture.Engine.allCases)
  func withdrawnLine(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let apply: JSONText = ["operation": "update-subscriptions", "account": "ann"]
    try fixture.run(apply, [try fixture.transaction(SQLiteStore.premium)])
    // The same subscription, under a product that no longer exists.
    let refund = try fixture.event(
      try fixture.notification(
        "REFUND", "com.example.app.old.monthly", signed: 10, revoked: RefundShare.full))
    checkEqual(refund.text("exchange.subscriptions.0.outcome"), "applied")
    check(refund.integer("exchange.subscriptions.0.subscription.revokedAtMs") != nil)
    let read = try fixture.run(["operation": "get-plan", "account": "ann"])
    checkEqual(read.text("exchange.plan"), "free")
  }

  @Test("STO-34 ledger and line by themselves: a renewal raises one and is applied to the other")
  func both() throws {
    let fixture = try LedgerFixture(.sqlite)
    try fixture.claim(try fixture.transaction(SQLiteStore.premium))
    let renewed = try fixture.event(
      try fixture.notification("DID_RENEW", SQLiteStore.premium, signed: 10))
    checkEqual(renewed.text("exchange.subscriptions.0.outcome"), "applied")
    try checkEqual(fixture.row()?.asOfMs, 10)
    check(renewed.text("exchange.take.0.takeId") == nil)
    let owner = try fixture.sql("SELECT owner FROM assay_subscription")
    checkEqual(owner, ["[\"ann\"]"])
  }

  @Test(
    "RPL-2 complete binds a line that is still nobody's", arguments: LedgerFixture.Engine.allCases)
  func binds(_ engine: LedgerFixture.Engine) throws {
    let fixture = try LedgerFixture(engine)
    let period = try fixture.transaction(SQLiteStore.premium)
    let claimed = try fixture.run(
      ["operation": "claim", "account": "ann", "attemptId": fixture.attempt()], [period])
    checkEqual(claimed.text("exchange.outcome"), "new")
    // Like a row that an older version claimed: its subscription has no owner.
    try fixture.forgetOwnerOfLines()
    let due = try fixture.run(
      ["operation": "resume-expired", "attemptId": fixture.attempt()], now: Minted.now + 60_000)
    try checkEqual(fixture.lineOwners(), [""])
    let done = try fixture.run(
      [
        "operation": "complete", "account": "ann",
        "purchaseKey": .string(try require(due.text("exchange.claims.0.purchaseKey"))),
        "grantId": .string(try require(due.text("exchange.claims.0.grantId"))), "fencingToken": 2,
      ], now: Minted.now + 60_001)
    checkEqual(done.name, "ok")
    try checkEqual(fixture.lineOwners(), ["ann"])
  }

  @Test("STM-8 rows that an older version wrote on DynamoDB read as they were meant")
  func olderRows() throws {
    for (state, share) in [("granted", nil), ("revoked", RefundShare.full)] as [(String, Int64?)] {
      var item: DynamoStore.Item = [
        "PK": .text("PURCHASE#k"), "SK": .text("PURCHASE"), "state": .text(state),
        "quantity": .number(3), "fencing_token": .number(2),
      ]
      for name in [
        "purchase_key", "environment", "transaction_id", "original_transaction_id", "owner",
        "product", "evidence", "grant_id", "attempt_id",
      ] {
        item[name] = .text("k")
      }
      for name in [
        "purchased_at_ms", "as_of_ms", "generation", "claimed_at_ms", "lease_expires_at_ms",
      ] {
        item[name] = .number(1)
      }
      let json = try JSONReader.readObject(Array(DynamoValue.json(item).utf8), caps: .evidence)
      let row = try LedgerRow(try DynamoItem(json.root))
      check(row.units == 3 && row.outCount == (state == "granted" ? 3 : 0))
      check(row.revokedShare == share && row.repeats == 2)
      check(!row.isTakeBackPending)
    }
  }

  @Test("STO-35 units of a share: the nearest, and an exact half stays with the customer")
  func rounding() {
    for (units, share, back) in [
      (3, 33_333, 1), (100, 30_000, 30), (100, 67_932, 68), (1, 50_000, 0), (1, 50_001, 1),
      (1000, 15, 0), (7, 42_857, 3), (1, 0, 0), (1, 100_000, 1),
      (9_007_199_254_740_991, 100_000, 9_007_199_254_740_991),
      (9_007_199_254_740_991, 50_000, 4_503_599_627_370_495),
    ] as [(Int64, Int64, Int64)] {
      checkEqual(RefundShare.back(of: units, share), back, "\(units) \(share)")
    }
  }

  @Test("STO-36 units are the quantity times what the catalogue says, at the claim")
  func units() throws {
    let fixture = try LedgerFixture(.sqlite)
    let claimed = try fixture.claim(try fixture.transaction())
    checkEqual(claimed.integer("exchange.claims.0.units"), 100)
    checkEqual(claimed.integer("exchange.claims.0.quantity"), 1)
  }
}
