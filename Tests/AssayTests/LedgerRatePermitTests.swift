import AssayAuthority
import Testing

@testable import Assay

/// Tests rate permits with scripted replies (STO-66).
@Suite("Stores: pace")
struct LedgerRatePermitTests {
  private static let now = Minted.now + 250
  private static let full = "{\"rows\":[]}"

  private func pace(
    _ more: [(String, JSONText)] = [], stores: [(String, JSONText)] = [],
    _ changes: [(String, JSONText)] = []
  ) throws -> LedgerScript {
    let request: JSONText = [
      "operation": "acquire-rate-permit", "appStoreOperation": "look-up-order-id",
      "environment": "Production",
    ]
    return LedgerScript(
      try Minted.verifier([("ledger", StoreAnswer.stores(.sqlite, stores))] + changes),
      request.setting(more), now: Self.now)
  }

  @Test("STO-66 the counter is one of app, kind and second")
  func taken() throws {
    let script = try pace()
    let second = Minted.now / 1000
    checkEqual(
      script.arguments(),
      "[\"APPLE#Production#com.example.app\",\"\(second)\",\"look-up-order-id\",1,"
        + "\((second + 1) * 1000 + 3_600_000),4,4]")
    try script.answer("{\"rows\":[[5]]}")
    script.expect("ok", "acquired")
    checkEqual(script.document.integer("exchange.used"), 5)
    checkEqual(script.document.integer("exchange.limit"), 5)
  }

  @Test("STO-66 half of Apple's number, the configured one, or a tenth in Sandbox")
  func limits() throws {
    let named: [(String, JSONText)] = [("rateLimits", ["look-up-order-id": 40])]
    let sandbox: [(String, JSONText)] = [("environment", "Sandbox")]
    let cases: [([(String, JSONText)], [(String, JSONText)], Int)] = [
      ([], [], 5), (sandbox, [], 1), ([], named, 40), (sandbox, named, 4),
      ([("appStoreOperation", "get-transaction-info")], [], 25),
      ([("appStoreOperation", "request-test-notification")], [], 1),
    ]
    for (members, stores, limit) in cases {
      let script = try pace(members, stores: stores)
      check(script.arguments().hasSuffix(",\(limit - 1),\(limit - 1)]"))
    }
    let unlimited = try pace([
      ("appStoreOperation", "get-status-of-subscription-renewal-date-extensions")
    ])
    unlimited.expect("ok", "acquired")
    checkEqual(unlimited.source("exchange.limit"), "null")
  }

  @Test("STO-66 a full second is waited out, five times")
  func waits() throws {
    let script = try pace()
    var seconds: [String] = []
    for _ in 1...5 {
      seconds.append(script.source("exchange.database.calls.0.args.1"))
      try script.answer(Self.full)
      script.expect("pending.exchange.wait")
      let until = try require(script.waitsUntil)
      check((0...250).contains(until % 1000))
      checkEqual(script.document.integer("exchange.retry.attempt"), 2)
      try script.wait()
    }
    checkEqual(Set(seconds).count, 5)
    try script.answer(Self.full)
    script.expect("unavailable.app-store.local-rate-limit", "limited", at: "appStoreOperation")
    checkEqual(script.document.integer("exchange.retry.attempt"), 2)
    checkEqual(
      script.document.text("exchange.retry.request.appStoreOperation"), "look-up-order-id")
  }

  @Test("STO-66 EXC-16 a second that begins after the deadline is not waited for")
  func outOfTime() throws {
    let script = try pace([("deadlineMs", .integer(Self.now + 1000))])
    try script.answer(Self.full)
    try script.wait()
    try script.answer(Self.full)
    script.expect("unavailable.app-store.local-rate-limit", at: "appStoreOperation")
    checkEqual(script.document.text("error.rule"), "STO-66")
  }

  @Test("STO-66 the bucket follows the clock of a host that comes back late")
  func late() throws {
    let script = try pace()
    try script.answer(Self.full)
    try script.wait(late: 30_000)
    checkEqual(
      script.document.text("exchange.database.calls.0.args.1"), "\(Minted.now / 1000 + 31)")
    try script.answer("{\"rows\":[[1]]}")
    script.expect("ok", "acquired")
  }

  @Test("EXC-15 busy rows and full seconds together stay below the number of steps")
  func bound() throws {
    let script = try pace()
    for _ in 1...3 {
      try script.fail("5", executed: "no")
      try script.wait()
    }
    for _ in 1...5 {
      try script.answer(Self.full)
      try script.wait()
    }
    try script.answer(Self.full)
    script.expect("unavailable.app-store.local-rate-limit", "limited")
  }

  @Test("§7 Apple's own limit is still there when the store is away")
  func open() throws {
    for code in ["1", nil] {
      let script = try pace()
      if let code { try script.fail(code) } else { try script.lose() }
      script.expect("ok", "acquired")
      checkEqual(script.document.flag("exchange.unlimited"), true)
    }
    let odd = try pace()
    try odd.answer("{\"rows\":[[\"x\"]]}")
    odd.expect("unavailable.database.unexpected-reply")
  }

  @Test("STO-66 what a host must not ask")
  func misuse() throws {
    let wrong: [(String, JSONText)] = [
      ("appStoreOperation", "consume-quota"), ("appStoreOperation", 1), ("environment", "Xcode"),
      ("environment", "auto"),
      ("bundleId", "com.example.other"), ("attempt", 0), ("attempt", 65),
    ]
    for (member, value) in wrong {
      try pace([(member, value)]).expect("misuse.exchange.request", at: member)
    }
    let two: JSONText = [
      ["bundleId": "com.example.app", "appAppleId": 1],
      ["bundleId": "com.example.two", "appAppleId": 2],
    ]
    try pace([], stores: [], [("apps", two)]).expect("misuse.exchange.request", at: "bundleId")
    let named = try pace([("bundleId", "com.example.two")], stores: [], [("apps", two)])
    check(named.arguments().hasPrefix("[\"APPLE#Production#com.example.two\""))
  }
}
