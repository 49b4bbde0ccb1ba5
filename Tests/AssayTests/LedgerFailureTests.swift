import AssayAuthority
import Testing

@testable import Assay

/// Tests failures between an exchange and its database: unavailable engines, lost sessions, grants
/// that end their transaction, limits (docs/spec/ledger.md §6).
@Suite("Stores: failures")
struct LedgerFailureTests {
  private static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb]

  private func script(
    _ engine: LedgerEngine, _ request: JSONText, _ stores: [(String, JSONText)] = []
  ) throws -> LedgerScript {
    LedgerScript(
      try Minted.verifier(
        [("ledger", StoreAnswer.stores(engine, stores))] + SQLiteStore.catalogue.dropLast()),
      request)
  }

  private static let lookup: JSONText = ["operation": "find", "account": "ann"]

  private static let once: JSONText = [
    "operation": "record-event", "id": "NOTE#1", "attemptId": "attempt-0000000000000001",
  ]

  // MARK: not reached

  @Test(
    "STO-77 no connection: once more after 100 ms, then unreachable", arguments: StoreAnswer.engines
  )
  func unreachable(_ engine: LedgerEngine) throws {
    let more: [(String, JSONText)] = engine == .redis ? [("redis", ["volatile": true])] : []
    let script = try script(engine, Self.once, more)
    try script.fail("connect", executed: "no")
    checkEqual(script.waitsUntil, Minted.now + 100)
    try script.wait()
    try script.fail("connect", executed: "no")
    Exchanges.expect(
      script.document, "unavailable.database.unreachable", at: "error.code", rule: "STO-77")
    check(String(decoding: script.document.json, as: UTF8.self).contains("connect"))
    let back = try self.script(engine, Self.once, more)
    try back.fail("connect", executed: "no")
    try back.wait()
    check(back.step != nil)
  }

  @Test(
    "STO-77 STO-71 codes by engine: not reached, busy, stopped, wrong for good",
    arguments: [
      (LedgerEngine.postgres, "08001", "unavailable.database.unreachable"),
      (.postgres, "57P03", "unavailable.database.contention"),
      (.postgres, "53300", "unavailable.database.contention"),
      (.postgres, "55P03", "unavailable.database.contention"),
      (.postgres, "57014", "unavailable.database.outcome-unknown"),
      (.postgres, "25P03", "unavailable.database.outcome-unknown"),
      (.postgres, "28P01", "unavailable.database.statement-failed"),
      (.postgres, "3D000", "unavailable.database.statement-failed"),
      (.mariadb, "2003", "unavailable.database.unreachable"),
      (.mariadb, "1040", "unavailable.database.contention"),
      (.mariadb, "1969", "unavailable.database.outcome-unknown"),
      (.mariadb, "2013", "unavailable.database.outcome-unknown"),
      (.mariadb, "1045", "unavailable.database.statement-failed"),
      (.mariadb, "1049", "unavailable.database.statement-failed"),
      (.sqlite, "9", "unavailable.database.contention"),
      (.sqlite, "14", "unavailable.database.statement-failed"),
      (.redis, "WRONGPASS", "unavailable.database.statement-failed"),
      (.redis, "evicting", "config.ledger.evicting"),
      (.dynamodb, "UnrecognizedClientException", "unavailable.database.statement-failed"),
    ])
  func codes(_ engine: LedgerEngine, _ code: String, _ status: String) throws {
    let script = try script(engine, Self.once)
    for _ in 1...4 where script.document.status.family == .pending {
      try script.fail(code)
      if script.document.status == .pendingExchangeWait { try script.wait() }
    }
    checkEqual(script.document.name, status, "\(code)")
  }

  @Test("STO-76 a statement that its limit stopped in a transaction was undone: it is repeated")
  func stopped() throws {
    let link: JSONText = [
      "operation": "merge-accounts", "from": "a", "to": "b",
      "attemptId": "attempt-0000000000000001",
    ]
    let script = try script(.postgres, link)
    for _ in 1...3 {
      try script.fail("57014")
      try script.wait()
    }
    try script.fail("57014")
    script.expect("unavailable.database.contention")
  }

  // MARK: limits

  @Test("STO-76 every step carries its limits, and an exchange ends in its time")
  func limits() throws {
    let script = try script(.postgres, Self.lookup)
    checkEqual(script.document.integer("exchange.database.limits.statementMs"), 5000)
    checkEqual(script.document.integer("exchange.database.limits.lockMs"), 2000)
    let own = try self.script(
      .postgres, Self.lookup, [("statementMs", 1000), ("requestMs", 3000)])
    checkEqual(own.document.integer("exchange.database.limits.statementMs"), 1000)
    checkEqual(own.document.integer("exchange.database.limits.lockMs"), 1000)
    let late = try self.script(
      .postgres,
      [
        "operation": "merge-accounts", "from": "a", "to": "b",
        "attemptId": "attempt-0000000000000001",
      ])
    try late.answer("{\"rows\":[]}", after: 15_000)
    Exchanges.expect(
      late.document, "unavailable.exchange.deadline", at: "deadlineMs", rule: "EXC-16")
    let inTime = try self.script(
      .postgres,
      [
        "operation": "merge-accounts", "from": "a", "to": "b",
        "attemptId": "attempt-0000000000000001",
      ])
    try inTime.answer("{\"rows\":[]}", after: 14_999)
    checkEqual(inTime.step, 2)
  }

  // MARK: lost sessions

  private func coins(_ store: SQLiteStore) throws -> Document {
    try store.transaction {
      $0.type = .consumable
      $0.productId = SQLiteStore.coins
      $0.expiresDate = nil
      $0.webOrderLineItemId = nil
      $0.group = nil
    }
  }

  private static let claim: JSONText = [
    "operation": "claim", "account": "ann", "grantMode": "transaction",
    "attemptId": "attempt-0000000000000001",
  ]

  @Test("STO-39 a session that is lost in the grant: begun anew twice, then deferred")
  func lostInGrant() throws {
    for losses in 1...3 {
      let store = try SQLiteStore()
      let evidence = try coins(store)
      var grants = 0
      let document = try store.run(
        Self.claim, [evidence],
        granting: { _ in
          grants += 1
          return grants <= losses ? .lost : .granted
        })
      checkEqual(grants, min(losses + 1, 3))
      let rows = try store.run("SELECT state FROM assay_purchase", [])
      if losses < 3 {
        checkEqual(document.name, "ok")
        checkEqual(rows, ["[\"granted\"]"])
      } else {
        Exchanges.expect(
          document, "unavailable.database.outcome-unknown", at: "code", rule: "STO-39")
        checkEqual(document.text("exchange.clientResult"), "deferred")
        checkEqual(document.integer("exchange.retryAfterMs"), 1000)
        check(rows.isEmpty)
      }
    }
  }

  @Test("STO-39 the engine's code for it, in the answer to the grant or to the commit")
  func lostByCode() throws {
    let store = try SQLiteStore()
    var grants = 0
    let document = try store.run(
      Self.claim, [try coins(store)],
      granting: { _ in
        grants += 1
        return grants == 1 ? .refused("5") : .granted
      })
    checkEqual(document.name, "ok")
    checkEqual(grants, 2)
    let other = try SQLiteStore()
    let refused = try other.run(Self.claim, [try coins(other)], granting: { _ in .refused("13") })
    Exchanges.expect(
      refused, "unavailable.claim.in-progress", at: "grant", rule: "STO-32")
    checkEqual(refused.integer("exchange.retryAfterMs"), 0)
  }

  @Test("STO-39 a commit that was lost: what stands there tells", arguments: [true, false])
  func lostCommit(_ isCarriedOut: Bool) throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    var grants = 0
    // The number of the last step, from a run without a fault.
    let other = try SQLiteStore()
    try other.run(Self.claim, [try coins(other)], granting: { _ in .granted })
    store.faults[other.steps] = .lost(carriedOut: isCarriedOut)
    let document = try store.run(
      Self.claim, [evidence],
      granting: { _ in
        grants += 1
        return .granted
      })
    checkEqual(grants, (isCarriedOut ? 1 : 2))
    checkEqual(document.name, (isCarriedOut ? "rejected.purchase.already-granted" : "ok"))
    try checkEqual(store.run("SELECT state FROM assay_purchase", []), ["[\"granted\"]"])
  }

  @Test("STO-20 a completion that does not come through is deferred, and the claim stays open")
  func incomplete() throws {
    let complete: JSONText = [
      "operation": "complete", "account": "ann", "purchaseKey": "Sandbox/1",
      "grantId": .string(String(repeating: "a", count: 64)),
    ]
    for code in ["40001", "42P01", "standby"] {
      let script = try script(.postgres, complete)
      for _ in 1...4 where script.document.status.family == .pending {
        try script.fail(code)
        if script.document.status == .pendingExchangeWait { try script.wait() }
      }
      checkEqual(script.document.status.family, .unavailable)
      checkEqual(script.document.text("exchange.outcome"), "resume")
      checkEqual(script.document.text("exchange.clientResult"), "deferred")
    }
  }

  // MARK: the open transaction

  @Test("STO-38 a grant that ended the transaction: what it committed is told")
  func broken() throws {
    for hasCommitted in [true, false] {
      let store = try SQLiteStore()
      let evidence = try coins(store)
      let document = try store.run(
        Self.claim, [evidence],
        granting: { _ in
          _ = try? store.run(hasCommitted ? "COMMIT" : "ROLLBACK", [])
          return .refused("transaction")
        })
      Exchanges.expect(document, "misuse.ledger.transaction", at: "grant", rule: "STO-38")
      checkEqual(document.flag("exchange.committed"), hasCommitted)
      checkEqual(document.text("exchange.clientResult"), "deferred")
      try checkEqual(
        store.run("SELECT state FROM assay_purchase", []).count, (hasCommitted ? 1 : 0))
    }
  }

  // MARK: texts of clients

  @Test(
    "STO-84 control characters in a text of a client are malformed, a NUL as well",
    arguments: ["\\u0000", "\\u0001", "\\n", "\\u0085"])
  func clientTexts(_ character: String) throws {
    let requests = [
      (
        "account",
        #"{"operation":"consume-quota","account":"a@b","meter":"premium","plan":"premium"}"#
      ),
      ("id", #"{"operation":"record-event","id":"N@","attemptId":"attempt-0000000000000001"}"#),
      (
        "username",
        #"{"operation":"begin-signup","address":"192.0.2.1","username":"u_0123456789abcde@","passwordBytes":24}"#
      ),
      (
        "reason",
        #"{"operation":"merge-accounts","from":"a","to":"b","reason":"@","#
          + #""attemptId":"attempt-0000000000000001"}"#
      ),
      (
        "from",
        #"{"operation":"merge-accounts","from":"a@","to":"b","attemptId":"attempt-0000000000000001"}"#
      ),
      (
        "subject",
        #"{"operation":"issue-challenge","purpose":"attest","subject":"@a","challenge":"0123456789abcdef0123456789abcdef"}"#
      ),
    ]
    let verifier = try Minted.verifier(SQLiteStore.catalogue)
    for (place, text) in requests {
      let request = utf8(text.replacing("@", with: character))
      let (_, document) = verifier.startExchange(request, nowMs: Minted.now)
      Exchanges.expect(document, "malformed.ledger.text", at: place, rule: "STO-84")
    }
    // A control character in the host's own texts is misuse.
    let (_, own) = verifier.startExchange(
      utf8(
        #"{"operation":"record-event","id":"N","attemptId":"attempt-00000000000\#(character)"}"#),
      nowMs: Minted.now)
    checkEqual(own.status.family, .misuse)
  }

  // MARK: Redis

  private static let persistent = "{\"reply\":[\"# Persistence\\r\\naof_enabled:1\\r\\n\"]}"

  @Test("STO-83 once stands on a Redis that keeps it, or that is volatile by name")
  func onceOnRedis() throws {
    let script = try script(.redis, Self.once)
    checkEqual(script.source("exchange.database.calls.0.command"), "[\"INFO\",\"persistence\"]")
    try script.answer("{\"reply\":[\"aof_enabled\",0,\"rdb_saves\",1]}")
    Exchanges.expect(
      script.document, "config.ledger.not-durable", at: "aof_enabled", rule: "STO-83")
    for kept in [Self.persistent, "{\"reply\":[\"aof_enabled\",1]}", "{\"reply\":[\"\"]}"] {
      let script = try self.script(.redis, Self.once)
      try script.answer(kept)
      checkEqual(script.source("exchange.database.calls.0.keys"), "[\"assay:{NOTE#1}:event\"]")
    }
    let named = try self.script(.redis, Self.once, [("redis", ["volatile": true])])
    checkEqual(named.source("exchange.database.calls.0.keys"), "[\"assay:{NOTE#1}:event\"]")
  }

  @Test("STO-83 a Redis that may evict keys is refused; what it does not tell is a warning")
  func evicting() throws {
    let check: JSONText = ["operation": "check-schema"]
    func script(_ memory: String, _ persistence: String) throws -> LedgerScript {
      let script = try self.script(.redis, check)
      checkEqual(script.source("exchange.database.calls.2.command"), "[\"INFO\",\"memory\"]")
      try script.answer(
        "{\"reply\":[\"master\",1]},{\"reply\":[\"redis_version:7\"]},{\"reply\":[\(memory)]},{\"reply\":[\(persistence)]}"
      )
      return script
    }
    let evicting = try script(
      "\"maxmemory:3145728\\r\\nmaxmemory_policy:allkeys-lru\"", "\"aof_enabled:1\"")
    Exchanges.expect(
      evicting.document, "config.ledger.evicting", at: "maxmemory_policy", rule: "STO-83")
    for (memory, persistence, warnings) in [
      ("\"maxmemory\",0,\"maxmemory_policy\",\"allkeys-lru\"", "\"aof_enabled\",1", "[]"),
      ("\"maxmemory:9\\r\\nmaxmemory_policy:noeviction\"", "\"aof_enabled:1\"", "[]"),
      (
        "\"maxmemory:9\\r\\nmaxmemory_policy:noeviction\"", "\"aof_enabled:0\"",
        "[\"not-persistent\"]"
      ),
      ("\"maxmemory:9\"", "\"aof_enabled:1\"", "[\"unknown\"]"),
      ("\"\"", "\"\"", "[\"unknown\"]"),
    ] {
      let found = try script(memory, persistence)
      found.expect("ok")
      checkEqual(found.source("exchange.warnings"), warnings)
    }
  }
}
