import AssayAuthority
import Testing

@testable import Assay

/// Tests the operations on purchases, subscriptions and accounts on DynamoDB
/// (docs/spec/ledger-statements.md §3).
@Suite("Stores: DynamoDB")
struct LedgerDynamoTests {
  private static let now = Minted.now

  private func coins(
    _ store: DynamoStore, signed: Int64 = 0, revoked: Bool = false, id: String? = nil
  ) throws -> Document {
    try store.transaction {
      $0.type = .consumable
      $0.productId = SQLiteStore.coins
      $0.expiresDate = nil
      $0.webOrderLineItemId = nil
      $0.group = nil
      $0.signedDate += signed
      if let id {
        $0.transactionId = id
        $0.originalTransactionId = id
      }
      if revoked {
        $0.revocationDate = $0.signedDate - 1000
        $0.revocationReason = 0
      }
    }
  }

  private func attempt(_ number: Int) -> JSONText {
    .string("attempt-\(1_000_000_000_000_000 + number)")
  }

  private func claim(
    _ account: String = "ann", _ number: Int = 1, _ more: [(String, JSONText)] = []
  ) -> JSONText {
    let request: JSONText = [
      "operation": "claim", "account": .string(account), "attemptId": attempt(number),
    ]
    return request.setting(more)
  }

  private func expect(
    _ document: Document, _ outcome: String, _ status: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    checkEqual(document.text("exchange.outcome"), outcome, sourceLocation: sourceLocation)
    checkEqual(
      document.name, status, "\(document.text("error.at") ?? "")",
      sourceLocation: sourceLocation)
  }

  private func row(_ store: DynamoStore, _ claimed: Document) throws -> DynamoStore.Item {
    let key = try require(claimed.text("exchange.claims.0.purchaseKey"))
    return try require(store.item("PURCHASE#" + key, "PURCHASE"))
  }

  // MARK: ledger

  @Test("STO-22 a claim, its grant, and the same purchase again")
  func once() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    let first = try store.run(claim(), [evidence])
    expect(first, "new", "ok")
    let claimed = try row(store, first)
    checkEqual(claimed["owner_pk"], .text("USER#ann"))
    checkEqual(claimed["due_at_ms"], .number(Self.now + 60_000))
    expect(try store.run(try first.completion()), "granted", "ok")
    let granted = try row(store, first)
    check(granted["due_pk"] == nil && granted["due_at_ms"] == nil)
    let again = try store.run(try first.completion(), now: Self.now + 1)
    expect(again, "granted", "ok")
    checkEqual(again.flag("exchange.changed"), false)
    expect(
      try store.run(claim("ann", 2), [evidence]), "already-granted",
      "rejected.purchase.already-granted")
    expect(
      try store.run(claim("bob", 3), [evidence]), "other-account",
      "rejected.purchase.other-account")
  }

  @Test("STO-72 a write that was carried out twice finds its own attempt", arguments: 1...2)
  func lostAnswer(_ step: Int) throws {
    let store = try DynamoStore()
    store.faults[step] = .lost(carriedOut: true)
    expect(try store.run(claim(), [try coins(store)]), "new", "ok")
    let other = try DynamoStore()
    other.faults[step] = .lost(carriedOut: false)
    expect(try other.run(claim(), [try coins(other)]), "new", "ok")
  }

  @Test("STO-26 RFD-3 the indexes of a row that is resumed, reopened, claimed after its refund")
  func indexes() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    let first = try store.run(claim(), [evidence])
    let resumed = try store.run(claim("ann", 2), [evidence], now: Self.now + 60_000)
    try checkEqual(row(store, first)["due_at_ms"], .number(Self.now + 120_000))
    try store.run(try resumed.completion(), now: Self.now + 60_001)
    try store.run(["operation": "revoke"], [try coins(store, signed: 1000, revoked: true)])
    try store.run(claim("ann", 3), [try coins(store, signed: 2000)])
    let reopened = try row(store, first)
    check(reopened["revoked_at_ms"] == nil && reopened["granted_at_ms"] == nil)
    checkEqual(reopened["due_at_ms"], .number(Self.now + 60_000))
    let other = try DynamoStore()
    try other.run(["operation": "revoke"], [try coins(other, signed: 1000, revoked: true)])
    let late = try other.run(claim(), [try coins(other, signed: 2000)])
    try checkEqual(row(other, late)["owner_pk"], .text("USER#ann"))
  }

  @Test("STO-11 a name that led elsewhere before is followed")
  func names() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    let id = "Sandbox/2000000900000001"
    store.put([
      "PK": .text("PURCHASE_KEY#" + id), "SK": .text("PURCHASE_KEY"), "name": .text(id),
      "target": .text("Sandbox/earlier"),
    ])
    let first = try store.run(claim(), [evidence])
    checkEqual(first.text("exchange.claims.0.purchaseKey"), "Sandbox/earlier")
    expect(first, "new", "ok")
  }

  @Test("STO-30 claims left behind come back to the sweeper, each once, the oldest first")
  func due() throws {
    let store = try DynamoStore()
    for number in 0..<30 {
      let evidence = try coins(store, id: "\(2_000_000_900_000_100 + number)")
      expect(
        try store.run(claim("ann", number), [evidence], now: Self.now + Int64(number)), "new", "ok")
    }
    let late = Self.now + 100_000
    func sweep(_ number: Int) throws -> Document {
      try store.run(["operation": "resume-expired", "attemptId": attempt(number)], now: late)
    }
    let first = try sweep(91)
    checkEqual(first.flag("exchange.hasMore"), true)
    checkEqual(first.text("exchange.claims.0.transactionId"), "2000000900000100")
    checkEqual(first.text("exchange.claims.24.transactionId"), "2000000900000124")
    let second = try sweep(92)
    checkEqual(second.text("exchange.claims.4.transactionId"), "2000000900000129")
    check(second.text("exchange.claims.5.transactionId") == nil)
    try check(sweep(93).text("exchange.claims.0.transactionId") == nil)
  }

  @Test("STO-30 a row that another sweeper took in between is passed over")
  func dueTaken() throws {
    let store = try DynamoStore()
    let first = try store.run(claim(), [try coins(store)])
    let place = try row(store, first)
    store.faults[store.steps + 2] = .meanwhile { store in
      var taken = place
      taken["lease_expires_at_ms"] = .number(Self.now + 200_000)
      store.put(taken)
    }
    let swept = try store.run(
      ["operation": "resume-expired", "attemptId": attempt(9)], now: Self.now + 100_000)
    checkEqual(swept.name, "ok")
    check(swept.text("exchange.claims.0.outcome") == nil)
  }

  @Test("STO-30 after a lost answer the sweeper knows its own rows, and no others")
  func dueLost() throws {
    let sweeper = "attempt-\(1_000_000_000_000_000 + 9)"
    let lease = Self.now + 160_000
    for (attempt, leaseMs, state, isOurs) in [
      (sweeper, lease, "claimed", true), ("attempt-0000000000000001", lease, "claimed", false),
      (sweeper, lease + 1, "claimed", false), (sweeper, lease, "granted", false),
    ] {
      let store = try DynamoStore()
      let first = try store.run(claim(), [try coins(store)])
      var taken = try row(store, first)
      taken["attempt_id"] = .text(attempt)
      taken["lease_expires_at_ms"] = .number(leaseMs)
      taken["state"] = .text(state)
      store.faults[store.steps + 2] = .meanwhile { $0.put(taken) }
      let swept = try store.run(
        ["operation": "resume-expired", "attemptId": .string(sweeper)], now: Self.now + 100_000)
      checkEqual(swept.name, "ok")
      checkEqual(
        swept.text("exchange.claims.0.outcome"), (isOurs ? "resume" : nil),
        "\(attempt) \(leaseMs) \(state)")
    }
    let store = try DynamoStore()
    try store.run(claim(), [try coins(store)])
    store.faults[store.steps + 2] = .lost(carriedOut: true)
    let swept = try store.run(
      ["operation": "resume-expired", "attemptId": .string(sweeper)], now: Self.now + 100_000)
    checkEqual(swept.integer("exchange.claims.0.fencingToken"), 2)
  }

  @Test("LST-2 the ledger of an account, by an index that may lag")
  func lookup() throws {
    let store = try DynamoStore()
    try store.run(claim(), [try coins(store)])
    let found = try store.run(["operation": "find", "account": "ann"])
    expect(found, "resume", "ok")
    checkEqual(found.flag("exchange.eventual"), true)
    let one = try store.run([
      "operation": "find", "account": "bob", "environment": "Sandbox",
      "transactionId": "2000000900000001",
    ])
    checkEqual(one.text("exchange.outcome"), "used-by-other")
    checkEqual(one.flag("exchange.eventual"), false)
  }

  // MARK: the grant in the host's transaction

  @Test("STO-21 claim and grant in one transaction of the host")
  func granted() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    let request = claim("ann", 1, [("grantMode", "transaction")])
    let failed = try store.run(request, [evidence]) { _, document in
      "{\"id\":\(document.integer("exchange.grant.id") ?? 0),\"code\":500}"
    }
    expect(failed, "in-progress", "unavailable.claim.in-progress")
    let done = try store.run(request, [evidence])
    expect(done, "new", "ok")
    checkEqual(done.text("exchange.clientResult"), "granted")
    checkEqual(store.grants, [done.text("exchange.claims.0.grantId") ?? "": "ann"])
    try checkEqual(row(store, done)["state"], .text("granted"))
    try check(row(store, done)["due_pk"] == nil)
    expect(
      try store.run(request, [evidence]), "already-granted", "rejected.purchase.already-granted")
  }

  @Test("STO-21 a row that came in between decides by the reason of our item")
  func grantedElsewhere() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    let other = try DynamoStore()
    let theirs = try other.run(claim("bob", 2), [evidence])
    let met = try row(other, theirs)
    let document = try store.run(claim("ann", 1, [("grantMode", "transaction")]), [evidence]) {
      $0.put(met)
      return $0.grantAnswer($1)
    }
    expect(document, "other-account", "rejected.purchase.other-account")
    check(store.grants.isEmpty)
  }

  @Test("STO-21 a claim of this attempt in lease mode is granted by an update")
  func grantedLater() throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    try store.run(claim(), [evidence])
    let more: [(String, JSONText)] = [("grantMode", "transaction")]
    // The purchase may have been granted under its lease (STO-37).
    expect(try store.run(claim("ann", 1, more), [evidence]), "held", "unavailable.claim.held")
    let done = try store.run(claim("ann", 1, more + [("allowRepeat", true)]), [evidence])
    expect(done, "new", "ok")
    try checkEqual(row(store, done)["state"], .text("granted"))
  }

  @Test(
    "STO-21 STO-32 STM-12 why a grant was cancelled",
    arguments: [
      (#"[{"code":"None"},{"code":"ConditionalCheckFailed"}]"#, "unavailable.claim.in-progress"),
      (#"[{"code":"ConditionalCheckFailed"}]"#, "unavailable.database.unexpected-reply"),
      (#"[{"code":"TransactionConflict"},{"code":"None"}]"#, "unavailable.database.contention"),
      (#"[{"code":"None"},{"code":"ValidationError"}]"#, "unavailable.database.statement-failed"),
      (#"[{"code":"None"}]"#, "unavailable.database.unexpected-reply"),
    ])
  func cancelled(_ reasons: String, _ status: String) throws {
    let store = try DynamoStore()
    let document = try store.run(
      claim("ann", 1, [("grantMode", "transaction")]), [try coins(store)]
    ) { _, document in
      let id = document.integer("exchange.grant.id") ?? 0
      let error = #"{"type":"TransactionCanceledException","reasons":\#(reasons)}"#
      return #"{"id":\#(id),"code":200,"results":[{"error":\#(error)}]}"#
    }
    checkEqual(document.name, status)
  }

  @Test(
    "EXC-5 an answer to a grant step has its id, and says 200 or 500",
    arguments: [
      ("{\"id\":99,\"code\":200}", "misuse.exchange.order"),
      ("{\"id\":ID,\"code\":404}", "misuse.exchange.reply"),
      ("{\"id\":ID,\"code\":200}", "ok"),
    ])
  func grantForm(_ answer: String, _ status: String) throws {
    let store = try DynamoStore()
    let document = try store.run(
      claim("ann", 1, [("grantMode", "transaction")]), [try coins(store)]
    ) { _, document in
      answer.replacing("ID", with: "\(document.integer("exchange.grant.id") ?? 0)")
    }
    checkEqual(document.name, status)
  }

  // MARK: unexpected replies

  @Test(
    "STO-4 what is not understood is never read as absent",
    arguments: [
      #"{}"#, #"{"rows":[]}"#, #"{"error":{"type":"ConditionalCheckFailedException"}}"#,
      #"{"error":{"type":"ConditionalCheckFailedException","item":{}}}"#,
      #"{"error":{"type":"ConditionalCheckFailedException","item":{"target":"a"}}}"#,
      #"{"error":{"type":"ConditionalCheckFailedException","item":{"target":{"N":"1"}}}}"#,
      #"{"error":{"type":"ConditionalCheckFailedException","item":{"target":{"S":"a","N":"1"}}}}"#,
    ])
  func shapes(_ result: String) throws {
    let store = try DynamoStore()
    store.faults[1] = .answer(#"{"id":ID,"code":200,"results":[\#(result)]}"#)
    let document = try store.run(claim(), [try coins(store)])
    checkEqual(document.name, "unavailable.database.unexpected-reply")
  }

  @Test("STO-4 a row without attributes, of another form, or that is not shown")
  func otherForms() throws {
    let refund = { (store: DynamoStore) in try self.coins(store, signed: 9, revoked: true) }
    let complete: JSONText = [
      "operation": "complete", "account": "ann", "purchaseKey": "Sandbox/2000000900000001",
      "grantId": .string(String(repeating: "a", count: 64)),
    ]
    let read: JSONText = ["operation": "get-plan", "account": "ann"]
    let join = link("anon", "ann")
    let unjoined = #"{"output":{}}"#
    let days =
      #"{"output":{"Items":[{"PK":{"S":"USER#anon"},"SK":{"S":"DATE#2026-11-21"},"#
      + #""ttl":{"N":"1"},"count_free":COUNT}]}}"#
    let none = #"{"output":{"Items":[]}}"#
    func account(_ count: String) -> String {
      [none, days.replacing("COUNT", with: count), none, none, none].joined(separator: ",")
    }
    for (request, step, results) in [
      (join, 1, #"{"output":{"Item":{}}},\#(unjoined)"#),
      (join, 1, #"{"output":{"Item":[{"target":{"S":"x"}}]}},\#(unjoined)"#),
      (join, 1, #"{"output":{"Item":{"joined":{"SS":"a"}}}},\#(unjoined)"#),
      (join, 4, account(#"{"N":"1","S":"1"}"#)), (join, 4, account(#"{"S":"1"}"#)),
      (read, 1, #"{"output":{"Items":{}}}"#), (complete, 1, #"{"output":{}}"#),
      (["operation": "revoke"], 2, #"{"error":{"type":"ConditionalCheckFailedException"}}"#),
    ] as [(JSONText, Int, String)] {
      let store = try DynamoStore()
      store.faults[step] = .answer(#"{"id":ID,"code":200,"results":[\#(results)]}"#)
      let isRevoke = request.bytes == (["operation": "revoke"] as JSONText).bytes
      let document = try store.run(request, isRevoke ? [try refund(store)] : [])
      checkEqual(document.name, "unavailable.database.unexpected-reply", "\(results)")
      checkEqual(store.steps, step, "\(results)")
    }
  }

  @Test(
    "STO-4 numbers are decimal text below 2^53",
    arguments: [
      DynamoValue.text("1"), .number(9_007_199_254_740_992), .texts(["1"]),
    ])
  func numbers(_ value: DynamoValue) throws {
    let store = try DynamoStore()
    let evidence = try coins(store)
    var met = try row(store, try store.run(claim(), [evidence]))
    met["fencing_token"] = value
    store.put(met)
    try checkEqual(
      store.run(claim("ann", 2), [evidence]).name, "unavailable.database.unexpected-reply")
  }

  @Test(
    "STO-71 the codes of the engine",
    arguments: [
      ("ThrottlingException", "ok"), ("TransactionConflictException", "ok"),
      ("InternalServerError", "ok"),
      ("ValidationException", "unavailable.database.statement-failed"),
      ("ResourceNotFoundException", "unavailable.database.statement-failed"),
    ])
  func codes(_ code: String, _ status: String) throws {
    let store = try DynamoStore()
    store.faults[2] = .failed(code)
    try checkEqual(store.run(claim(), [try coins(store)]).name, status)
  }

  // MARK: lines

  private func month(
    _ store: DynamoStore, signed: Int64 = 0, revoked: Bool = false, transaction: String? = nil
  ) throws -> Document {
    try store.transaction {
      $0.productId = SQLiteStore.premium
      if let transaction {
        $0.transactionId = transaction
        $0.webOrderLineItemId = transaction
      }
      $0.purchaseDate = Self.now - 1000
      $0.expiresDate = Self.now + 1_000_000
      $0.signedDate = Self.now - 1000 + signed
      if revoked {
        $0.revocationDate = $0.signedDate
        $0.revocationReason = 0
      }
    }
  }

  @Test(
    "RPL-2 of an account's line nobody else claims anything, by lease or in its transaction",
    arguments: ["lease", "transaction"])
  func othersLine(_ mode: String) throws {
    let store = try DynamoStore()
    let evidence = try month(store)
    try store.run(apply("ann"), [evidence])
    let more: [(String, JSONText)] = [("grantMode", .string(mode))]
    expect(
      try store.run(claim("bob", 1, more), [evidence]), "other-account",
      "rejected.subscription.other-account")
    check(!store.items.keys.contains { $0.contains("PURCHASE#") })
    expect(try store.run(claim("ann", 2, more), [evidence]), "new", "ok")
    let other = try DynamoStore()
    try other.run(apply(nil), [evidence])
    expect(try other.run(claim("bob", 1, more), [evidence]), "new", "ok")
    check(other.items.keys.contains { $0.contains("PURCHASE#") })
  }

  @Test(
    "RPL-2 the first account that claims a line owns it, by lease or in its transaction",
    arguments: ["lease", "transaction"])
  func ownLine(_ mode: String) throws {
    let store = try DynamoStore()
    let more: [(String, JSONText)] = [("grantMode", .string(mode))]
    func period(_ number: Int, _ signed: Int64) throws -> Document {
      try month(store, signed: signed, transaction: "200000090000012\(number)")
    }
    expect(try store.run(claim("ann", 1, more), [try period(1, 5)]), "new", "ok")
    try checkEqual(plan(store, "ann"), "premium")
    let next = try period(2, 6)
    let others = try store.run(claim("bob", 2, more), [next])
    expect(others, "other-account", "rejected.subscription.other-account")
    checkEqual(others.text("error.rule"), "RPL-2")
    checkEqual(outcome(try store.run(apply("bob"), [next])), "other-account")
    // Neither evidence of another account nor older evidence changes the subscription.
    checkEqual(line(store)?["as_of_ms"], .number(Self.now - 1000 + 5))
    expect(try store.run(claim("ann", 3, more), [try period(3, 4)]), "new", "ok")
    checkEqual(line(store)?["as_of_ms"], .number(Self.now - 1000 + 5))
    let steps = store.steps
    expect(try store.run(claim("ann", 4, more), [next]), "new", "ok")
    checkEqual(line(store)?["as_of_ms"], .number(Self.now - 1000 + 6))
    // Repeating it writes nothing: two steps fewer than the change.
    let changing = store.steps - steps
    _ = try store.run(claim("ann", 4, more), [next])
    check(store.steps - steps - changing < changing)
    // A deactivated subscription is active again.
    try store.run(["operation": "deactivate-subscriptions", "account": "ann"])
    try checkEqual(plan(store, "ann"), "free")
    _ = try store.run(claim("ann", 4, more), [next])
    try checkEqual(plan(store, "ann"), "premium")
  }

  private func line(_ store: DynamoStore) -> DynamoStore.Item? {
    store.items.first { $0.key.hasPrefix("SUBSCRIPTION#") && $0.key.hasSuffix("|SUBSCRIPTION") }?
      .value
  }

  private func apply(_ account: String?, _ more: [(String, JSONText)] = []) -> JSONText {
    let request: JSONText = ["operation": "update-subscriptions"]
    return request.setting((account.map { [("account", .string($0))] } ?? []) + more)
  }

  private func plan(_ store: DynamoStore, _ account: String) throws -> String? {
    try store.run(["operation": "get-plan", "account": .string(account)])
      .text("exchange.plan")
  }

  private func outcome(_ document: Document) -> String? {
    document.text("exchange.subscriptions.0.outcome")
  }

  @Test("STO-40 the newest evidence stands, and its owner reads the copy")
  func apply() throws {
    let store = try DynamoStore()
    let evidence = try month(store)
    let first = try store.run(apply("ann"), [evidence])
    checkEqual(outcome(first), "applied")
    checkEqual(first.text("exchange.plan"), "premium")
    checkEqual(first.flag("exchange.changed"), true)
    let again = try store.run(apply("ann"), [evidence])
    checkEqual(outcome(again), "applied")
    checkEqual(again.flag("exchange.changed"), false)
    try store.run(apply("ann"), [try month(store, signed: 500)])
    checkEqual(outcome(try store.run(apply("ann"), [try month(store)])), "stale")
    try checkEqual(plan(store, "ann"), "premium")
    let other = try store.run(apply("bob"), [try month(store, signed: 600)])
    checkEqual(other.name, "rejected.subscription.other-account")
    try checkEqual(plan(store, "bob"), "free")
  }

  @Test("STO-40 a line that changed in between is judged again by the row of the reason")
  func raced() throws {
    let store = try DynamoStore()
    let other = try DynamoStore()
    try other.run(apply("bob"), [try month(store, signed: 500)])
    store.faults[2] = .meanwhile { store in other.items.values.forEach(store.put) }
    let document = try store.run(apply("ann"), [try month(store)])
    checkEqual(document.name, "rejected.subscription.other-account")
    try checkEqual(plan(store, "bob"), "premium")
    try checkEqual(plan(store, "ann"), "free")
  }

  @Test("STO-70 a line that changes again and again is left to the next call")
  func busyLine() throws {
    let store = try DynamoStore()
    try store.run(apply(nil), [try month(store, signed: 500)])
    let begun = store.steps
    func changes(_ rounds: Int) {
      for round in 1...rounds {
        store.faults[begun + 1 + round] = .meanwhile { store in
          var line = store.item("SUBSCRIPTION#Sandbox#2000000900000001", "SUBSCRIPTION") ?? [:]
          line["as_of_ms"] = .number(Self.now + Int64(round))
          store.put(line)
        }
      }
    }
    changes(4)
    let busy = try store.run(apply("ann"), [try month(store)])
    Exchanges.expect(busy, "unavailable.database.contention", at: "subscriptions", rule: "STO-70")
    checkEqual(store.steps, begun + 5)
    try checkEqual(plan(store, "ann"), "free")
  }

  @Test("STO-42 a move takes line and copy along, once in its time")
  func move() throws {
    let store = try DynamoStore([("ledger.transfer", "allow")])
    try store.run(apply("ann"), [try month(store)])
    let moved = try store.run(apply("bob"), [try month(store, signed: 500)])
    checkEqual(outcome(moved), "transferred")
    try checkEqual(plan(store, "ann"), "free")
    try checkEqual(plan(store, "bob"), "premium")
    let back = try store.run(apply("ann"), [try month(store, signed: 600)])
    checkEqual(back.name, "rejected.subscription.transfer-too-soon")
    try checkEqual(plan(store, "bob"), "premium")
  }

  @Test("STO-48 a due line is handed out once, and gets its following look")
  func dueLines() throws {
    let store = try DynamoStore()
    try store.run(apply("ann"), [try month(store)])
    let due: JSONText = ["operation": "lease-due-subscriptions", "attemptId": attempt(1)]
    try check(store.run(due).text("exchange.subscriptions.0.account") == nil)
    let late = Self.now + 100 * 86_400_000
    let listed = try store.run(due, now: Self.now + 2_000_000)
    checkEqual(listed.text("exchange.subscriptions.0.account"), "ann")
    try check(
      store.run(due, now: Self.now + 2_000_000).text("exchange.subscriptions.0.account") == nil)
    try checkEqual(store.run(due, now: late).text("exchange.subscriptions.0.account"), "ann")
    // Sixty days have passed.
    check(!store.items.values.contains { $0["due_pk"] != nil })
  }

  // MARK: accounts

  private func link(_ from: String, _ to: String, _ number: Int = 50) -> JSONText {
    [
      "operation": "merge-accounts", "from": .string(from), "to": .string(to),
      "attemptId": attempt(number), "reason": "signed in",
    ]
  }

  private func day(_ account: String, _ counts: [String: Int64]) -> DynamoStore.Item {
    var item: DynamoStore.Item = [
      "PK": .text("USER#" + account), "SK": .text("DATE#2026-11-21"), "ttl": .number(1_796_428_800),
    ]
    for (meter, count) in counts { item["count_" + meter] = .number(count) }
    return item
  }

  @Test("STO-90 a link moves lines, purchases and counts once")
  func linked() throws {
    let store = try DynamoStore()
    try store.run(apply("anon"), [try month(store)])
    let claimed = try store.run(claim("anon"), [try coins(store, id: "2000000900000777")])
    store.put(day("anon", ["free": 3, "premium": 1]))
    store.put(day("ann", ["free": 2]))
    let done = try store.run(link("anon", "ann"))
    expect(done, "merged", "ok")
    checkEqual(done.integer("exchange.moved.subscriptions"), 1)
    checkEqual(done.integer("exchange.moved.purchases"), 1)
    checkEqual(done.integer("exchange.moved.meters"), 2)
    checkEqual(done.flag("exchange.hasMore"), false)
    try checkEqual(plan(store, "ann"), "premium")
    try checkEqual(plan(store, "anon"), "free")
    checkEqual(store.item("USER#ann", "DATE#2026-11-21")?["count_free"], .number(5))
    checkEqual(store.item("USER#ann", "DATE#2026-11-21")?["count_premium"], .number(1))
    try checkEqual(row(store, claimed)["owner"], .text("ann"))
    let again = try store.run(link("anon", "ann", 51))
    expect(again, "already", "ok")
    checkEqual(again.flag("exchange.changed"), false)
    checkEqual(store.item("USER#ann", "DATE#2026-11-21")?["count_free"], .number(5))
  }

  @Test("STO-91 what was joined is joined nowhere else, and those before it follow")
  func chains() throws {
    let store = try DynamoStore()
    try store.run(link("a", "b"))
    try checkEqual(store.run(link("b", "a", 51)).name, "rejected.account.merged")
    try checkEqual(store.run(link("a", "c", 52)).name, "rejected.account.merged")
    try checkEqual(store.run(link("c", "a", 53)).name, "rejected.account.merged")
    try checkEqual(store.run(link("b", "c", 54)).name, "ok")
    checkEqual(store.item("MERGED_ACCOUNT#a", "MERGED_ACCOUNT")?["target"], .text("c"))
    checkEqual(store.item("MERGED_ACCOUNT#c", "MERGED_ACCOUNT")?["joined"], .texts(["a", "b"]))
    check(store.item("MERGED_ACCOUNT#b", "MERGED_ACCOUNT")?["joined"] == nil)
  }

  @Test("STO-91 of two opposite links at once one passes")
  func opposite() throws {
    let store = try DynamoStore()
    store.faults[2] = .meanwhile { store in
      store.faults[2] = nil
      #expect(throws: Never.self) { try store.run(self.link("b", "a", 60)) }
    }
    let document = try store.run(link("a", "b"))
    checkEqual(document.name, "rejected.account.merged")
    checkEqual(store.item("MERGED_ACCOUNT#b", "MERGED_ACCOUNT")?["target"], .text("a"))
    check(store.item("MERGED_ACCOUNT#a", "MERGED_ACCOUNT")?["target"] == nil)
  }

  @Test("STO-91 of two equal links at once the second is told so")
  func equal() throws {
    let store = try DynamoStore()
    store.faults[2] = .meanwhile { store in
      store.faults[2] = nil
      #expect(throws: Never.self) { try store.run(self.link("a", "b", 60)) }
    }
    expect(try store.run(link("a", "b")), "already", "ok")
  }

  @Test("STO-91 who is joined into an account just before it is joined follows")
  func follower() throws {
    let store = try DynamoStore()
    store.faults[2] = .meanwhile { store in
      store.faults[2] = nil
      #expect(throws: Never.self) { try store.run(self.link("c", "a", 60)) }
    }
    expect(try store.run(link("a", "b")), "merged", "ok")
    checkEqual(store.item("MERGED_ACCOUNT#c", "MERGED_ACCOUNT")?["target"], .text("b"))
  }

  private static let forgetKey: (String, JSONText) = (
    "ledger.forgetKey", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
  )

  @Test("STO-93 nothing of a forgotten account is left but the hash")
  func forgotten() throws {
    let store = try DynamoStore([Self.forgetKey, ("ledger.keepEvidence", true)])
    try store.run(apply("anon-1"), [try month(store)])
    let bought = try coins(store, id: "2000000900000777")
    let first = try store.run(claim("anon-1", 1, [("note", "by hand")]), [bought])
    try store.run(try first.completion(by: "anon-1"))
    store.put(day("anon-1", ["free": 3]))
    store.put([
      "PK": .text("DEVICE_KEY#k"), "SK": .text("DEVICE_KEY"), "owner": .text("anon-1"),
      "state": .text("active"), "receipt": .text("MII"), "owner_pk": .text("USER#anon-1"),
      "owner_sk": .text("K#0000000000001"),
    ])
    try store.run(link("anon-0", "anon-1", 51))
    try store.run(link("anon-1", "someone", 52))
    try store.run(apply("anon-1"), [try month(store, signed: 5)])
    let forget: JSONText = [
      "operation": "forget-account", "account": "anon-1", "attemptId": attempt(53),
    ]
    try store.run(["operation": "forget-account", "account": "someone", "attemptId": attempt(54)])
    let done = try store.run(forget)
    checkEqual(done.name, "ok", "\(done.text("error.at") ?? "")")
    let again = try store.run(forget)
    expect(again, "already", "ok")
    checkEqual(again.flag("exchange.changed"), false)
    let dump = store.items.map { $0.key + DynamoValue.json($0.value) }.joined(separator: "\n")
    check(!dump.contains("anon-1"), "\(dump)")
    check(!dump.contains("someone"), "\(dump)")
    check(!dump.contains("by hand"))
    checkEqual(store.item("DEVICE_KEY#k", "DEVICE_KEY")?["state"], .text("retired"))
    check(store.item("DEVICE_KEY#k", "DEVICE_KEY")?["receipt"] == nil)
    expect(
      try store.run(claim("bob", 2), [bought]), "other-account", "rejected.purchase.other-account")
  }

  private func forget(_ account: String) -> JSONText {
    ["operation": "forget-account", "account": .string(account), "attemptId": attempt(53)]
  }

  @Test("STO-93 who was joined into a forgotten account is forgotten with it")
  func forgottenJoined() throws {
    let store = try DynamoStore([Self.forgetKey])
    try store.run(link("dev-1", "dev-2", 51))
    try store.run(link("dev-2", "me-myself", 52))
    try store.run(apply("dev-1"), [try month(store)])
    store.put(day("dev-2", ["free": 3]))
    let done = try store.run(forget("me-myself"))
    expect(done, "forgotten", "ok")
    checkEqual(done.integer("exchange.forgotten.subscriptions"), 1)
    checkEqual(done.flag("exchange.hasMore"), false)
    let dump = store.items.map { $0.key + DynamoValue.json($0.value) }.joined(separator: "\n")
    for account in ["dev-", "me-myself"] { check(!dump.contains(account), "\(dump)") }
    expect(try store.run(forget("me-myself")), "already", "ok")
  }

  @Test("STO-93 more joined accounts than one exchange takes: the same request again")
  func forgottenMany() throws {
    let store = try DynamoStore([Self.forgetKey])
    for number in 10..<35 { try store.run(link("dev-\(number)", "me-myself", number)) }
    let first = try store.run(forget("me-myself"))
    checkEqual(first.name, "ok")
    checkEqual(first.flag("exchange.hasMore"), true)
    try checkEqual(store.run(forget("me-myself")).flag("exchange.hasMore"), false)
    let dump = store.items.map { $0.key + DynamoValue.json($0.value) }.joined(separator: "\n")
    for account in ["dev-", "me-myself"] { check(!dump.contains(account), "\(dump)") }
  }

  @Test("STO-93 STM-2 texts that an account showed earlier go with it, also of a moved line")
  func forgottenTexts() throws {
    let changes = [
      Self.forgetKey, ("ledger.keepEvidence", true), ("ledger.transfer", "allow"),
    ]
    let store = try DynamoStore(changes)
    // A notification before any account owned the subscription, then two updates of the account.
    try store.run(["operation": "update-subscriptions"], [try month(store)])
    try store.run(apply("ann"), [try month(store, signed: 1)])
    try store.run(apply("ann"), [try month(store, signed: 2)])
    let bought = try coins(store, id: "2000000900000777")
    let claimed = try store.run(claim("ann", 1), [bought])
    try store.run(try claimed.completion())
    try store.run(
      ["operation": "revoke"],
      [
        try coins(store, signed: 3, revoked: true, id: "2000000900000777")
      ])
    checkEqual(kept(store), 5)
    try checkEqual(store.run(forget("ann")).name, "ok")
    checkEqual(kept(store), 0)
    check(!store.items.keys.contains { $0.contains("|EVID#") })
    let moved = try DynamoStore(changes)
    try moved.run(apply("ann"), [try month(moved)])
    checkEqual(outcome(try moved.run(apply("bob"), [try month(moved, signed: 3)])), "transferred")
    checkEqual(kept(moved), 2)
    try checkEqual(moved.run(forget("ann")).name, "ok")
    checkEqual(kept(moved), 1)
    check(isKept(line(moved), moved))
  }

  // MARK: evidence

  @Test("STO-68 kept texts come back, and those that are missing are named")
  func evidence() throws {
    let store = try DynamoStore([("ledger.keepEvidence", true)])
    let first = try store.run(claim(), [try coins(store)])
    let key = try require(first.text("exchange.claims.0.purchaseKey"))
    let read = try store.run(["operation": "get-evidence", "purchaseKey": .string(key)])
    checkEqual(read.text("exchange.evidence.0.text")?.hasPrefix("eyJ"), true)
    let digest = String(repeating: "0", count: 64)
    let missing = try store.run(["operation": "get-evidence", "sha256": [.string(digest)]])
    checkEqual(missing.text("exchange.missing.0"), digest)
  }

  private func kept(_ store: DynamoStore) -> Int {
    store.items.keys.count { $0.hasPrefix("EVID#") }
  }

  private func isKept(_ row: DynamoStore.Item?, _ store: DynamoStore) -> Bool {
    guard case .text(let digest)? = row?["evidence"] else { return false }
    return store.item("EVID#" + digest, "EVID") != nil
  }

  @Test("STM-2 the text stands where a row of the ledger names it, and no stranger's")
  func keptTexts() throws {
    let store = try DynamoStore([("ledger.keepEvidence", true)])
    let first = try store.run(claim(), [try coins(store)])
    expect(first, "new", "ok")
    check(isKept(try row(store, first), store))
    expect(
      try store.run(claim("bob", 2), [try coins(store, signed: 1)]), "other-account",
      "rejected.purchase.other-account")
    checkEqual(kept(store), 1)
    let late = Self.now + 60_000
    expect(try store.run(claim("ann", 3), [try coins(store, signed: 2)], now: late), "resume", "ok")
    check(isKept(try row(store, first), store))
    checkEqual(kept(store), 2)
    for (signed, count) in [(3, 3), (1, 3)] as [(Int64, Int)] {
      try store.run(["operation": "revoke"], [try coins(store, signed: signed, revoked: true)])
      check(isKept(try row(store, first), store))
      checkEqual(kept(store), count)
    }
    expect(try store.run(claim("ann", 4), [try coins(store, signed: 4)]), "resume", "ok")
    check(isKept(try row(store, first), store))
    checkEqual(kept(store), 4)
    let tombstone = try DynamoStore([("ledger.keepEvidence", true)])
    try tombstone.run(["operation": "revoke"], [try coins(tombstone, revoked: true)])
    checkEqual(kept(tombstone), 1)
  }

  @Test("STM-2 STO-21 the text is there before the host's transaction, of an own purchase only")
  func keptBefore() throws {
    let store = try DynamoStore([("ledger.keepEvidence", true)])
    let more: [(String, JSONText)] = [("grantMode", "transaction")]
    let done = try store.run(claim("ann", 1, more), [try coins(store)]) { store, document in
      checkEqual(self.kept(store), 1)
      return store.grantAnswer(document)
    }
    expect(done, "new", "ok")
    check(isKept(try row(store, done), store))
    expect(
      try store.run(claim("bob", 2, more), [try coins(store, signed: 1)]), "other-account",
      "rejected.purchase.other-account")
    // Newer evidence is stored with the row, whichever account presented it (STO-33).
    checkEqual(kept(store), 2)
    check(isKept(try row(store, done), store))
  }

  @Test("STM-2 the text of a line stands with the line: shown by a claim, applied, moved")
  func shownText() throws {
    let store = try DynamoStore([("ledger.keepEvidence", true), ("ledger.transfer", "allow")])
    let periods = [
      try month(store, transaction: "2000000900000121"),
      try month(store, signed: 1, transaction: "2000000900000122"),
    ]
    let first = try store.run(claim("ann", 1, [("transactionIds", ["2000000900000121"])]), periods)
    expect(first, "new", "ok")
    check(isKept(line(store), store))
    checkEqual(kept(store), 2)
    // Neither another account's evidence nor older evidence is stored.
    expect(
      try store.run(
        claim("bob", 2), [try month(store, signed: 2, transaction: "2000000900000123")]),
      "other-account", "rejected.subscription.other-account")
    checkEqual(outcome(try store.run(apply("ann"), [try month(store)])), "stale")
    checkEqual(kept(store), 2)
    checkEqual(outcome(try store.run(apply("bob"), [try month(store, signed: 3)])), "transferred")
    check(isKept(line(store), store))
    checkEqual(kept(store), 3)
    // Storing the same evidence again keeps its first time.
    guard case .text(let digest)? = line(store)?["evidence"] else { return }
    try store.run(apply("bob"), [try month(store, signed: 3)], now: Self.now + 9)
    checkEqual(store.item("EVID#" + digest, "EVID")?["stored_at_ms"], .number(Self.now))
    let deny = try DynamoStore([("ledger.keepEvidence", true)])
    try deny.run(apply("ann"), [try month(deny)])
    try checkEqual(
      deny.run(apply("bob"), [try month(deny, signed: 3)]).name,
      "rejected.subscription.other-account")
    checkEqual(kept(deny), 1)
  }

  @Test("RPL-2 a claim on DynamoDB reads its line once")
  func lineOnce() throws {
    let store = try DynamoStore()
    try store.run(claim(), [try month(store)])
    checkEqual(store.calls.count { $0 == "GetItem" }, 1)
    checkEqual(store.calls.count { $0 == "TransactWriteItems" }, 1)
  }

  // MARK: inputs

  @Test("STM-10, STM-11 an input as the client takes it")
  func input() throws {
    let request = DynamoRequest.update(
      .ledger("Sandbox/1"), "SET #attempt_id = :attempt_id ADD #fencing_token :one",
      if: "#owner = :owner AND #fencing_token < :one",
      [
        ("attempt_id", .text("a\"b")), ("one", .integer(1)), ("owner", .text("")),
        ("unused", .integer(2)),
      ])
    guard case .dynamo(let api, let input) = request.call("T") else {
      Issue.record("another call")
      return
    }
    checkEqual("\(api)", "UpdateItem")
    checkEqual(
      String(decoding: input, as: UTF8.self),
      """
      {"TableName":"T","Key":{"PK":{"S":"PURCHASE#Sandbox/1"},"SK":{"S":"PURCHASE"}},\
      "UpdateExpression":"SET #attempt_id = :attempt_id ADD #fencing_token :one",\
      "ConditionExpression":"#owner = :owner AND #fencing_token < :one",\
      "ExpressionAttributeNames":{"#attempt_id":"attempt_id","#fencing_token":"fencing_token",\
      "#owner":"owner"},\
      "ExpressionAttributeValues":{":attempt_id":{"S":"a\\"b"},":one":{"N":"1"},":owner":{"S":""}},\
      "ReturnValuesOnConditionCheckFailure":"ALL_OLD","ReturnValues":"ALL_NEW"}
      """)
  }
}
