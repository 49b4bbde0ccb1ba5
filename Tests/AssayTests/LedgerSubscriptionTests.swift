import AssayAuthority
import Testing

@testable import Assay

/// Tests docs/spec/ledger.md §5.5 and §5.9 on SQLite.
@Suite("Stores: lines and accounts")
struct LedgerSubscriptionTests {
  private static let day: Int64 = 86_400_000

  private func apply(
    _ store: SQLiteStore, _ account: String?, _ evidence: Document,
    _ more: [(String, JSONText)] = [], now: Int64 = Minted.now
  ) throws -> Document {
    var request: JSONText = ["operation": "update-subscriptions"]
    if let account { request = request.setting([("account", .string(account))]) }
    return try store.run(request.setting(more), [evidence], now: now)
  }

  private func plan(
    _ store: SQLiteStore, _ account: String = "ann", now: Int64 = Minted.now
  ) throws -> String? {
    try store.run(
      ["operation": "get-plan", "account": .string(account)], now: now
    ).text("exchange.plan")
  }

  @Test("STO-40 the newest evidence of a line stands; older evidence changes nothing")
  func newest() throws {
    let store = try SQLiteStore()
    let older = try store.transaction { $0.signedDate -= 5000 }
    let newer = try store.transaction { $0.productId = "com.example.app.standard.monthly" }
    let applied = try apply(store, "ann", newer)
    checkEqual(applied.text("exchange.subscriptions.0.outcome"), "applied")
    checkEqual(applied.text("exchange.plan"), "standard")
    checkEqual(applied.flag("exchange.changed"), true)
    let stale = try apply(store, "ann", older)
    checkEqual(stale.name, "ok")
    checkEqual(stale.text("exchange.subscriptions.0.outcome"), "stale")
    checkEqual(stale.text("exchange.plan"), "standard")
    let again = try apply(store, "ann", newer)
    checkEqual(again.text("exchange.subscriptions.0.outcome"), "applied")
    checkEqual(again.flag("exchange.changed"), false)
  }

  @Test("STO-25 only the chosen subscriptions are stored, in their newest state")
  func chosen() throws {
    let store = try SQLiteStore()
    let other = "2000000900000007"
    let evidence = [
      try store.transaction(),
      try store.transaction {
        ($0.transactionId, $0.originalTransactionId) = (other, other)
        $0.purchaseDate -= Self.day
      },
      try store.transaction {
        ($0.transactionId, $0.originalTransactionId) = ("2000000900000008", other)
      },
    ]
    func apply(_ ids: JSONText) throws -> Document {
      try store.run(
        ["operation": "update-subscriptions", "account": "ann", "transactionIds": ids], evidence)
    }
    // Of an older period that is chosen, the newest one is the state.
    let applied = try apply([.string(other)])
    checkEqual(applied.text("exchange.subscriptions.0.outcome"), "applied")
    check(applied.text("exchange.subscriptions.1.outcome") == nil)
    try checkEqual(
      store.run("SELECT transaction_id FROM assay_subscription", []),
      ["[\"2000000900000008\"]"])
    let none = try apply(["1"])
    checkEqual(none.name, "rejected.payload.incomplete")
    checkEqual(none.text("error.at"), "transactionIds")
  }

  @Test("STO-25 of several refunds only the chosen ones are entered")
  func chosenRefunds() throws {
    let store = try SQLiteStore()
    let evidence = try ["2000000900000007", "2000000900000008"].map { id in
      try store.transaction {
        ($0.transactionId, $0.originalTransactionId) = (id, id)
        $0.revocationDate = $0.signedDate - 1000
      }
    }
    func revoke(_ ids: JSONText) throws -> Document {
      try store.run(["operation": "revoke", "transactionIds": ids], evidence)
    }
    let revoked = try revoke(["2000000900000008"])
    checkEqual(revoked.text("exchange.revocations.0.outcome"), "unclaimed")
    try checkEqual(
      store.run("SELECT transaction_id FROM assay_purchase", []), ["[\"2000000900000008\"]"])
    try checkEqual(revoke(["1"]).name, "misuse.exchange.evidence")
  }

  @Test("STO-40 of one moment the same evidence is applied, other evidence is not")
  func tie() throws {
    let store = try SQLiteStore()
    try checkEqual(apply(store, "ann", store.transaction()).text("exchange.plan"), "premium")
    let other = try store.transaction { $0.productId = "com.example.app.standard.monthly" }
    let document = try apply(store, "ann", other)
    checkEqual(document.text("exchange.subscriptions.0.outcome"), "stale")
    let revoked = try store.transaction { $0.revocationDate = $0.signedDate - 1 }
    let refunded = try apply(store, nil, revoked)
    checkEqual(refunded.text("exchange.subscriptions.0.outcome"), "applied")
    try checkEqual(plan(store), "free")
    // No further change is possible (STO-47).
    try checkEqual(store.run("SELECT next_check_at_ms FROM assay_subscription", []), ["[null]"])
  }

  @Test("CMT-9 a line keeps its commitment, and is looked at for ninety days after a missed month")
  func commitment() throws {
    let store = try SQLiteStore()
    let end = Minted.purchase.expiresDate ?? 0
    let info: JSONText = [
      "billingPeriodNumber": 3, "totalBillingPeriods": 12,
      "commitmentExpiresDate": .integer(end + 270 * Self.day), "commitmentPrice": 119_880,
    ]
    let payload = Minted.purchase.transactionPayload.appending("billingPlanType", "MONTHLY")
      .appending("commitmentInfo", info)
    let month = store.verifier.verifyJWS(
      try Minted.authority().mint(payload), kind: .transaction, nowMs: Minted.now)
    _ = try apply(store, "ann", month)
    let columns = "SELECT commitment_ends_at_ms, commitment_period, commitment_of"
    try checkEqual(
      store.run("\(columns) FROM assay_subscription", []), ["[\(end + 270 * Self.day),3,12]"])
    try store.run("UPDATE assay_subscription SET next_check_at_ms = 1", [])
    let due: JSONText = [
      "operation": "lease-due-subscriptions", "attemptId": "attempt-0000000000000001",
    ]
    let checked = "SELECT next_check_at_ms FROM assay_subscription"
    try store.run(due, now: end + 70 * Self.day + 1)
    try checkEqual(store.run(checked, []), ["[\(end + 71 * Self.day)]"])
    // Without a commitment nothing is expected after sixty days.
    try store.run("UPDATE assay_subscription SET next_check_at_ms = 1, commitment_of = NULL", [])
    try store.run(due, now: end + 70 * Self.day + 2)
    try checkEqual(store.run(checked, []), ["[null]"])
  }

  @Test("API-59 a kept text without a bundle id is kept with that of its exchange")
  func bundle() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)] + Signing.blocks())
    let known = Minted.purchase.transactionId
    let asked: JSONText = [
      "operation": "get-transaction-info", "environment": "Production",
      "transactionId": .string(known),
    ]
    let purchase = Minted.purchase.with { $0.environment = "Production" }
    let silent = try Minted.authority().mint(
      purchase.transactionPayload.removing("bundleId"))
    let (open, _) = store.verifier.startExchange(asked.bytes, nowMs: Minted.now)
    let body: JSONText = ["signedTransactionInfo": .string(utf8: silent)]
    let reply: JSONText = [
      "id": 1, "status": 200, "headers": [["Content-Type", "application/json"]],
      "body": ["text": .string(utf8: body.bytes)],
    ]
    let exchange = try require(open)
    let found = exchange.step(reply.bytes, nowMs: Minted.now)
    checkEqual(found.name, "ok")
    _ = try apply(store, "ann", found)
    let kept = try store.run([
      "operation": "get-evidence", "environment": "Production",
      "originalTransactionId": .string(purchase.originalTransactionId),
    ])
    checkEqual(kept.text("exchange.evidence.0.bundleId"), "com.example.app")
  }

  @Test("STO-42 ask, confirm, move; not twice within the interval, not with the same text")
  func move() throws {
    let store = try SQLiteStore([("ledger.transfer", "confirm")])
    _ = try apply(store, "ann", try store.transaction())
    let same = try apply(store, "bob", try store.transaction(), [("confirmTransfer", true)])
    checkEqual(same.name, "rejected.subscription.other-account")
    checkEqual(same.flag("exchange.subscriptions.0.canTransfer"), false)
    let newer = try store.transaction { $0.signedDate += 1000 }
    let asked = try apply(store, "bob", newer)
    checkEqual(asked.name, "rejected.subscription.other-account")
    checkEqual(asked.flag("exchange.subscriptions.0.canTransfer"), true)
    let moved = try apply(store, "bob", newer, [("confirmTransfer", true)])
    checkEqual(moved.text("exchange.subscriptions.0.outcome"), "transferred")
    try checkEqual(plan(store, "bob"), "premium")
    try checkEqual(plan(store, "ann"), "free")
    let back = try store.transaction { $0.signedDate += 2000 }
    let soon = try apply(
      store, "ann", back, [("confirmTransfer", true)], now: Minted.now + Self.day - 1)
    checkEqual(soon.name, "rejected.subscription.transfer-too-soon")
    let later = try apply(
      store, "ann", back, [("confirmTransfer", true)], now: Minted.now + Self.day)
    checkEqual(later.text("exchange.subscriptions.0.outcome"), "transferred")
    try checkEqual(
      store.run("SELECT COUNT(*) FROM assay_audit WHERE action = 'transfer'", []), ["[2]"])
  }

  @Test("STO-45 a line counts until its end, to the millisecond, and in its grace")
  func end() throws {
    let store = try SQLiteStore()
    let evidence = try store.transaction()
    _ = try apply(store, "ann", evidence)
    let end = try require(Minted.purchase.expiresDate)
    try checkEqual(plan(store, now: end - 1), "premium")
    try checkEqual(plan(store, now: end), "free")
    let read = try store.run(["operation": "get-plan", "account": "ann"])
    checkEqual(read.integer("exchange.expiresAtMs"), end)
    checkEqual(read.flag("exchange.subscriptions.0.isActive"), true)
    try store.run("UPDATE assay_subscription SET environment = 'Xcode'", [])
    try checkEqual(plan(store), "free", "an environment that is not accepted")
  }

  @Test("CMT-4 a month of a commitment has no grace period in the ledger")
  func commitmentWithoutGrace() throws {
    let end = try require(Minted.purchase.expiresDate)
    let authority = try Minted.authority()
    func verified(
      _ store: SQLiteStore, _ payload: JSONText, _ kind: StoreKitKind
    ) throws -> Document {
      let document = store.verifier.verifyJWS(
        try authority.mint(payload), kind: kind, nowMs: Minted.now)
      checkEqual(document.status, .ok)
      return document
    }
    for (billingPlan, granted) in [("BILLED_UPFRONT", "premium"), ("MONTHLY", "free")] {
      let store = try SQLiteStore()
      let month = Minted.purchase.transactionPayload.appending(
        "billingPlanType", .string(billingPlan))
      let renewal = Minted.purchase.renewalPayload
        .setting("isInBillingRetryPeriod", true)
        .setting("gracePeriodExpiresDate", .integer(end + 5 * Self.day))
      let applied = try store.run(
        ["operation": "update-subscriptions", "account": "ann"],
        [try verified(store, month, .transaction), try verified(store, renewal, .renewalInfo)])
      checkEqual(applied.name, "ok")
      try checkEqual(plan(store, now: end - 1), "premium", "\(billingPlan)")
      try checkEqual(plan(store, now: end), granted, "\(billingPlan)")
    }
  }

  @Test("STO-45 what does not end counts only for a non-consumable; consumables make no line")
  func kinds() throws {
    let store = try SQLiteStore()
    let lifetime = try store.transaction {
      $0.type = .nonConsumable
      $0.productId = SQLiteStore.lifetime
      $0.expiresDate = nil
      $0.webOrderLineItemId = nil
      $0.group = nil
    }
    try checkEqual(apply(store, "ann", lifetime).text("exchange.plan"), "standard")
    try checkEqual(plan(store, now: Minted.now + 3650 * Self.day), "standard")
    let coins = try store.transaction {
      $0.type = .consumable
      $0.productId = SQLiteStore.coins
      $0.expiresDate = nil
      $0.transactionId = "2000000900000009"
      $0.originalTransactionId = "2000000900000009"
    }
    let left = try apply(store, "ann", coins)
    checkEqual(left.name, "ok")
    checkEqual(left.text("exchange.subscriptions.0.outcome"), "excluded")
  }

  @Test("STO-48 lines due are given out once, and planned again")
  func due() throws {
    let store = try SQLiteStore()
    _ = try apply(store, "ann", try store.transaction())
    let end = try require(Minted.purchase.expiresDate)
    let request: JSONText = [
      "operation": "lease-due-subscriptions", "attemptId": "attempt-due-0000000000000001",
    ]
    try check(
      store.run(request, now: end - Self.day - 1).text("exchange.subscriptions.0.account") == nil)
    let due = try store.run(request, now: end - Self.day)
    checkEqual(due.text("exchange.subscriptions.0.account"), "ann")
    try check(
      store.run(request, now: end - 1).text("exchange.subscriptions.0.account") == nil)
    try checkEqual(store.run(request, now: end).text("exchange.subscriptions.0.account"), "ann")
  }

  @Test("STO-29 the lease of lines that are due")
  func dueLease() throws {
    let request: JSONText = [
      "operation": "lease-due-subscriptions", "attemptId": "attempt-due-0000000000000001",
    ]
    for span in [4999, 3_600_001, -1] as [JSONText] {
      let refused = try SQLiteStore().run(request.setting([("leaseMs", span)]))
      Exchanges.expect(refused, "misuse.ledger.lease", at: "leaseMs", rule: "STO-29")
    }
    for span in [5000, 3_600_000] as [JSONText] {
      try checkEqual(SQLiteStore().run(request.setting([("leaseMs", span)])).name, "ok")
    }
  }

  @Test("STO-24 of a product that the catalogue does not have no line is made")
  func unknownProduct() throws {
    let store = try SQLiteStore()
    let refused = try apply(
      store, "ann", try store.transaction { $0.productId = "com.example.app.unknown" })
    Exchanges.expect(refused, "rejected.product.unknown", at: "subscriptions", rule: "STO-24")
    checkEqual(refused.text("exchange.subscriptions.0.outcome"), "unknown-product")
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_subscription", []), ["[0]"])
  }

  @Test("STO-43 evidence with another account's token is refused, whatever the policy")
  func token() throws {
    let store = try SQLiteStore([("ledger.transfer", "allow")])
    let evidence = try store.transaction {
      $0.accountToken = "11111111-1111-4111-8111-111111111111"
    }
    let other: [(String, JSONText)] = [
      ("accountToken", "22222222-2222-4222-8222-222222222222")
    ]
    let refused = try apply(store, "ann", evidence, other)
    checkEqual(refused.name, "rejected.account.token-mismatch")
    checkEqual(refused.text("error.rule"), "STO-43")
    checkEqual(store.steps, 1)
    let claim: JSONText = [
      "operation": "claim", "account": "ann", "attemptId": "attempt-claim-000000000000001",
    ]
    try checkEqual(
      store.run(claim.setting(other), [evidence]).name, "rejected.account.token-mismatch")
    checkEqual(store.steps, 1)
    let own: [(String, JSONText)] = [
      ("accountToken", "11111111-1111-4111-8111-111111111111")
    ]
    try checkEqual(apply(store, "ann", evidence, own).text("exchange.plan"), "premium")
    let without = try SQLiteStore()
    try checkEqual(
      apply(without, "ann", try without.transaction(), own).name, "rejected.account.token-missing")
  }

  @Test("§7 a store that is away: the default plan, or the last answer for a while")
  func away() throws {
    let store = try SQLiteStore([("ledger.failOpen", ["planMaxAgeMs": 60_000])])
    for step in 1...8 { store.faults[step] = .lost(carriedOut: false) }
    let closed = try store.run(["operation": "get-plan", "account": "ann"])
    checkEqual(closed.name, "unavailable.database.outcome-unknown")
    checkEqual(closed.text("exchange.plan"), "free")
    let last: JSONText = [
      "plan": "premium", "expiresAtMs": .null, "readAtMs": .integer(Minted.now - 60_000),
    ]
    let open = try store.run(["operation": "get-plan", "account": "ann", "cachedPlan": last])
    checkEqual(open.name, "ok")
    checkEqual(open.text("exchange.plan"), "premium")
    let old: JSONText = [
      "plan": "premium", "expiresAtMs": .null, "readAtMs": .integer(Minted.now - 60_001),
    ]
    let late = try SQLiteStore([("ledger.failOpen", ["planMaxAgeMs": 60_000])])
    for step in 1...8 { late.faults[step] = .lost(carriedOut: false) }
    try checkEqual(
      late.run(["operation": "get-plan", "account": "ann", "cachedPlan": old]).name,
      "unavailable.database.outcome-unknown")
  }

  @Test("§7 the last answer counts while it is young, of this plan and not over")
  func lastAnswer() throws {
    let now = Minted.now
    for (plan, until, at, status) in [
      ("premium", JSONText.integer(now + 1), now, "ok"),
      ("premium", .integer(now), now, "unavailable.database.outcome-unknown"),
      ("premium", .null, now + 1, "unavailable.database.outcome-unknown"),
      ("gold", .null, now, "misuse.exchange.request"),
    ] {
      let store = try SQLiteStore([("ledger.failOpen", ["planMaxAgeMs": 60_000])])
      for step in 1...8 { store.faults[step] = .lost(carriedOut: false) }
      let last: JSONText = ["plan": .string(plan), "expiresAtMs": until, "readAtMs": .integer(at)]
      let read = try store.run(["operation": "get-plan", "account": "ann", "cachedPlan": last])
      checkEqual(read.name, status, "\(plan) \(at - now)")
    }
  }

  // MARK: accounts

  private func link(_ from: String, _ to: String) -> JSONText {
    [
      "operation": "merge-accounts", "from": .string(from), "to": .string(to),
      "attemptId": "attempt-link-000000000000001",
    ]
  }

  @Test("STO-90 a link moves everything once, and only one way")
  func links() throws {
    let store = try SQLiteStore()
    _ = try apply(store, "anon", try store.transaction())
    let linked = try store.run(link("anon", "ann"))
    checkEqual(linked.text("exchange.outcome"), "merged")
    checkEqual(linked.integer("exchange.moved.subscriptions"), 1)
    try checkEqual(plan(store), "premium")
    try checkEqual(plan(store, "anon"), "free")
    let again = try store.run(link("anon", "ann"))
    checkEqual(again.text("exchange.outcome"), "already")
    try checkEqual(store.run(link("ann", "anon")).name, "rejected.account.merged")
    try checkEqual(store.run(link("anon", "bob")).name, "rejected.account.merged")
    try check(store.run(link("anon", "bob")).text("exchange.mergedInto") == nil)
    for request in [link("anon", "bob"), link("ann", "anon")] {
      let shown = try store.run(request.setting("operatorView", true))
      checkEqual(shown.text("exchange.mergedInto"), "ann")
    }
    Exchanges.expect(
      try store.run(link("ann", "ann")), "misuse.ledger.account", at: "to", rule: "STO-90")
  }

  @Test("STO-91 an account joined into one that is joined on points to the last")
  func chain() throws {
    let store = try SQLiteStore()
    _ = try store.run(link("a", "b"))
    try checkEqual(store.run(link("b", "c")).text("exchange.outcome"), "merged")
    try checkEqual(
      store.run("SELECT target FROM assay_merged_account WHERE id = 'a'", []), ["[\"c\"]"])
    try checkEqual(store.run(link("d", "b")).name, "rejected.account.merged")
  }

  @Test("STO-93 a forgotten account leaves no id behind, and its purchases stay paid out")
  func forget() throws {
    let key = JSONText.string(String(repeating: "A", count: 43) + "=")
    let store = try SQLiteStore([("ledger.forgetKey", key)])
    _ = try apply(store, "ann-to-forget", try store.transaction())
    let request: JSONText = [
      "operation": "forget-account", "account": "ann-to-forget",
      "attemptId": "attempt-forget-0000000000001",
    ]
    try checkEqual(store.run(request).text("exchange.outcome"), "forgotten")
    try checkEqual(store.run(request).text("exchange.outcome"), "already")
    for table in SchemaTable.allCases {
      let rows = try store.run("SELECT * FROM assay_\(table.word)", [])
      check(!rows.joined().contains("ann-to-forget"), "\(table)")
    }
    try checkEqual(
      apply(store, "bob", try store.transaction()).name, "rejected.subscription.other-account")
    let keyless = try SQLiteStore()
    try checkEqual(keyless.run(request).name, "config.ledger.forget-key")
  }

  @Test("STO-93 who was joined into a forgotten account is forgotten with it, link by link")
  func forgetJoined() throws {
    let key = JSONText.string(String(repeating: "A", count: 43) + "=")
    let store = try SQLiteStore([("ledger.forgetKey", key)])
    func take(_ account: String) throws {
      let taken = try store.run([
        "operation": "consume-quota", "account": .string(account), "meter": "free", "plan": "free",
      ])
      checkEqual(taken.name, "ok")
    }
    let links = [("dev-1", "dev-2"), ("dev-2", "me-myself"), ("dev-3", "me-myself")]
    for (number, (from, to)) in links.enumerated() {
      let attempt = JSONText.string("attempt-\(number)-00000000000000000")
      try checkEqual(store.run(link(from, to).setting("attemptId", attempt)).name, "ok")
    }
    // Rows that a late request of a merged account has left behind.
    try take("dev-1")
    _ = try apply(store, "dev-3", try store.transaction())
    let request: JSONText = [
      "operation": "forget-account", "account": "me-myself",
      "attemptId": "attempt-forget-0000000000001",
    ]
    let done = try store.run(request)
    checkEqual(done.text("exchange.outcome"), "forgotten")
    checkEqual(done.integer("exchange.forgotten.subscriptions"), 1)
    checkEqual(done.integer("exchange.forgotten.meters"), 1)
    checkEqual(done.flag("exchange.hasMore"), false)
    for table in SchemaTable.allCases {
      let rows = try store.run("SELECT * FROM assay_\(table.word)", []).joined()
      for account in ["dev-", "me-myself"] { check(!rows.contains(account), "\(table)") }
    }
    let owners = try store.run("SELECT DISTINCT owner, other FROM assay_audit", [])
    checkEqual(owners.count, 2, "\(owners)")
    let again = try store.run(request)
    checkEqual(again.text("exchange.outcome"), "already")
    checkEqual(again.flag("exchange.changed"), false)
  }

  @Test("STO-93 more joined accounts than one exchange takes: the same request again")
  func forgetMany() throws {
    let key = JSONText.string(String(repeating: "A", count: 43) + "=")
    let store = try SQLiteStore([("ledger.forgetKey", key)])
    for number in 10..<40 {
      let attempt = JSONText.string("attempt-\(number)-00000000000000000")
      _ = try store.run(link("dev-\(number)", "me-myself").setting("attemptId", attempt))
    }
    let request: JSONText = [
      "operation": "forget-account", "account": "me-myself",
      "attemptId": "attempt-forget-0000000000001",
    ]
    try checkEqual(store.run(request).flag("exchange.hasMore"), true)
    try checkEqual(store.run(request).flag("exchange.hasMore"), false)
    let rows = try store.run("SELECT * FROM assay_audit", []).joined()
    check(!rows.contains("dev-"))
    try check(store.run("SELECT id FROM assay_merged_account", []).isEmpty)
  }

  private func count(_ store: SQLiteStore, _ account: String) throws -> [String] {
    try store.run("SELECT used FROM assay_quota WHERE scope = 'USER#\(account)'", [])
  }

  @Test("STO-92 counters move once, and what comes later moves with the next link")
  func linkedCounts() throws {
    let store = try SQLiteStore()
    func take(_ account: String, _ units: Int64) throws {
      _ = try store.run([
        "operation": "consume-quota", "account": .string(account), "meter": "free", "plan": "free",
        "units": .integer(units),
      ])
    }
    try take("anon", 2)
    try take("ann", 1)
    let linked = try store.run(link("anon", "ann"))
    checkEqual(linked.integer("exchange.moved.meters"), 1)
    try checkEqual(count(store, "ann"), ["[3]"])
    try check(count(store, "anon").isEmpty)
    try take("anon", 1)
    try checkEqual(store.run(link("anon", "ann")).flag("exchange.changed"), true)
    try checkEqual(count(store, "ann"), ["[4]"])
    try check(count(store, "anon").isEmpty)
  }

  private func script(_ engine: LedgerEngine, _ request: JSONText) throws -> LedgerScript {
    LedgerScript(
      try Minted.verifier(
        [("ledger", StoreAnswer.stores(engine))] + SQLiteStore.catalogue.dropLast()),
      request)
  }

  private func texts(_ script: LedgerScript, _ count: Int) -> [String] {
    (0..<count).map { script.sql($0) ?? "" }
  }

  @Test(
    "STM-9 STO-92 a link locks link rows by their ids, then the rest table by table, counters last",
    arguments: [LedgerEngine.postgres, .mariadb])
  func linkLocks(_ engine: LedgerEngine) throws {
    let script = try script(engine, link("m", "b"))
    checkEqual(script.document.text("exchange.database.transaction"), "begin")
    checkEqual(script.sql()?.contains("WHERE target = "), true)
    try script.answer("{\"rows\":[[\"a\"],[\"z\"]]}")
    checkEqual(script.document.text("exchange.database.transaction"), "within")
    let ids = (0..<4).map { script.source("exchange.database.calls.\($0).args.0") }
    checkEqual(ids, ["a", "b", "m", "z"])
    for place in [0, 3] { checkEqual(script.sql(place)?.hasSuffix(" FOR UPDATE"), true) }
    let targets = "{\"rows\":[[\"m\",\"\",1,\"x\"]]},{\"rows\":[[\"b\",\"\",1,\"x\"]]}"
    let held = "{\"rows\":[[\"a\"]]},{},{},{\"rows\":[[\"z\"]]}"
    try script.answer("\(held),\(targets),{\"rows\":[[0,0,0,1]]}")
    let tables = texts(script, 5).map { $0.split(separator: " ")[1] }
    checkEqual(
      tables,
      [
        "assay_merged_account", "assay_merged_account", "assay_subscription", "assay_purchase",
        "assay_device_key",
      ])
    guard engine == .mariadb else {
      checkEqual(script.document.text("exchange.database.transaction"), "commit")
      checkEqual(script.sql(5)?.hasPrefix("WITH gone AS (DELETE FROM assay_quota WHERE"), true)
      checkEqual(script.sql(6)?.hasPrefix("INSERT INTO assay_audit"), true)
      try script.answer("{},{},{},{},{},{},{}")
      script.expect("ok", "merged")
      return
    }
    checkEqual(script.document.text("exchange.database.transaction"), "within")
    checkEqual(script.sql(5)?.hasSuffix(" LIMIT 200 FOR UPDATE"), true)
    try script.answer(
      "{},{},{},{},{},{\"rows\":[[\"2026-11-25\",\"free\",3,9],[\"2026-11-25\",\"premium\",1,9]]}")
    checkEqual(script.document.text("exchange.database.transaction"), "commit")
    checkEqual(
      script.arguments(0), "[\"USER#b\",\"2026-11-25\",\"free\",3,9]")
    checkEqual(script.sql(1)?.hasPrefix("DELETE FROM assay_quota WHERE scope = "), true)
    checkEqual(script.arguments(1), "[\"USER#m\",\"2026-11-25\",\"free\"]")
    checkEqual(script.arguments(3), "[\"USER#m\",\"2026-11-25\",\"premium\"]")
    try script.answer("{},{},{},{},{}")
    script.expect("ok", "merged")
    checkEqual(script.document.flag("exchange.hasMore"), false)
  }

  @Test("STO-68 kept evidence is read again by digest and by line; without keeping, refused")
  func evidence() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)])
    _ = try apply(store, "ann", try store.transaction())
    let request: JSONText = [
      "operation": "get-evidence", "environment": "Sandbox",
      "originalTransactionId": "2000000900000001",
    ]
    let read = try store.run(request)
    let jws = try require(read.text("exchange.evidence.0.text"))
    let verified = try Minted.verifier().verifyJWS(
      Array(jws.utf8), kind: .transaction, nowMs: Minted.now)
    checkEqual(verified.name, "ok")
    let sha256 = try require(read.text("exchange.evidence.0.sha256"))
    let other = String(repeating: "0", count: 64)
    let both = try store.run(
      ["operation": "get-evidence", "sha256": [.string(sha256), .string(other)]])
    checkEqual(both.text("exchange.missing.0"), other)
    try checkEqual(SQLiteStore().run(request).name, "config.ledger.evidence")
  }
}
