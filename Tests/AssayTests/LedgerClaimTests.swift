import AssayAuthority
import Testing

@testable import Assay

/// Tests docs/spec/ledger.md §5.1 … §5.4 on SQLite.
@Suite("Stores: claims")
struct LedgerClaimTests {
  private static let minute: Int64 = 60_000

  private func coins(_ store: SQLiteStore, signed: Int64 = 0, revoked: Bool = false) throws
    -> Document
  {
    try store.transaction {
      $0.type = .consumable
      $0.productId = SQLiteStore.coins
      $0.expiresDate = nil
      $0.webOrderLineItemId = nil
      $0.group = nil
      $0.quantity = 3
      $0.signedDate += signed
      if revoked {
        $0.revocationDate = $0.signedDate - 1000
        $0.revocationReason = 0
      }
    }
  }

  private func claim(
    _ account: String = "ann", _ attempt: Int = 1, _ more: [(String, JSONText)] = []
  ) -> JSONText {
    let request: JSONText = [
      "operation": "claim", "account": .string(account), "attemptId": .string(attemptId(attempt)),
    ]
    return request.setting(more)
  }

  private func attemptId(_ number: Int) -> String {
    "attempt-000000000000000\(number)".padded(to: 24)
  }

  @Test("STO-20 STO-22 RPL-2 a claim, its grant, and the same purchase again")
  func once() throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    let first = try store.run(claim(), [evidence])
    expect(first, "new", "ok")
    checkEqual(first.text("exchange.claims.0.product"), SQLiteStore.coins)
    checkEqual(first.integer("exchange.claims.0.quantity"), 3)
    checkEqual(first.integer("exchange.claims.0.fencingToken"), 1)
    let complete = try first.completion()
    let done = try store.run(complete)
    expect(done, "granted", "ok", answer: "granted")
    checkEqual(done.flag("exchange.changed"), true)
    let again = try store.run(complete, now: Minted.now + 1)
    expect(again, "granted", "ok", answer: "granted")
    checkEqual(again.flag("exchange.changed"), false)
    let own = try store.run(claim("ann", 2), [evidence])
    expect(
      own, "already-granted", "rejected.purchase.already-granted", answer: "already-granted")
    checkEqual(own.text("error.rule"), "STO-20")
    let others = try store.run(claim("bob", 3), [evidence])
    expect(others, "other-account", "rejected.purchase.other-account", answer: "refused-final")
    checkEqual(others.text("error.rule"), "RPL-2")
    expect(
      try store.run(try first.completion(by: "bob")), "superseded", "rejected.claim.superseded",
      answer: "deferred")
    let absent = complete.setting([("purchaseKey", "Sandbox/2000000900000999")])
    try checkEqual(store.run(absent).name, "unavailable.database.row-missing")
  }

  @Test("STO-70 a lost answer: the same attempt finds its own row")
  func lostAnswer() throws {
    let evidence = try coins(try SQLiteStore())
    for isCarriedOut in [true, false] {
      let store = try SQLiteStore()
      store.faults[1] = .lost(carriedOut: isCarriedOut)
      let first = try store.run(claim(), [evidence])
      expect(first, "new", "ok")
      // The whole transaction is one step, which is repeated.
      checkEqual(store.steps, 2)
      let again = try store.run(claim(), [evidence])
      expect(again, "new", "ok")
      checkEqual(
        again.text("exchange.claims.0.grantId"), first.text("exchange.claims.0.grantId"))
      checkEqual(again.integer("exchange.claims.0.fencingToken"), 1)
    }
  }

  @Test("EXC-24 a claim on SQLite is one step, whatever stands there")
  func atOnce() throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    let event: JSONText = ["operation": "claim", "attemptId": .string(attemptId(4))]
    expect(try store.run(claim(), [evidence]), "new", "ok")
    expect(
      try store.run(claim("ann", 2), [evidence]), "in-progress",
      "unavailable.claim.in-progress", answer: "deferred")
    expect(
      try store.run(claim("bob", 3), [evidence]), "other-account",
      "rejected.purchase.other-account", answer: "refused-final")
    expect(
      try store.run(event, [evidence]), "in-progress", "unavailable.claim.in-progress",
      answer: "deferred")
    checkEqual(store.steps, 4)
    // A later discovery costs another step: an expired lease is taken over.
    let late = Minted.now + Self.minute
    expect(try store.run(claim("ann", 5), [evidence], now: late), "resume", "ok")
    checkEqual(store.steps, 6)
    // If there is no row and none is inserted, one more read.
    let unknown = try month(store)
    expect(try store.run(event, [unknown]), "unclaimed", "ok", answer: "deferred")
    checkEqual(store.steps, 8)
  }

  @Test("STO-11 both keys lead to one row, which is claimed under the key that names lead to")
  func names() throws {
    for (names, row) in [
      // The transaction was stored under another purchase key.
      ([("TKEY", "x")], "x"),
      // That other key, or the purchase's own, is an alias of a third.
      ([("TKEY", "x"), ("x", "y")], "y"), ([("PKEY", "y")], "y"),
      // The other key is an alias of the purchase's own, which has no row yet.
      ([("TKEY", "x"), ("x", "PKEY")], "PKEY"),
    ] {
      let store = try SQLiteStore()
      let evidence = try month(store)
      let keys = try Self.keys(of: evidence)
      func key(_ name: String) -> String {
        name == "TKEY" ? keys.transaction.string : name == "PKEY" ? keys.purchase.string : name
      }
      for (name, target) in names {
        try store.run("INSERT INTO assay_purchase_key VALUES ('\(key(name))','\(key(target))')", [])
      }
      let first = try store.run(claim(), [evidence])
      expect(first, "new", "ok")
      checkEqual(first.text("exchange.claims.0.purchaseKey"), key(row), "\(names)")
      try checkEqual(
        store.run("SELECT purchase_key FROM assay_purchase", []), ["[\"\(key(row))\"]"])
      checkEqual(store.steps, 2)
      let again = try store.run(claim(), [evidence])
      expect(again, "new", "ok")
      checkEqual(
        again.text("exchange.claims.0.grantId"), first.text("exchange.claims.0.grantId"))
      expect(
        try store.run(claim("bob", 2), [evidence]), "other-account",
        "rejected.purchase.other-account", answer: "refused-final")
      try checkEqual(store.run("SELECT COUNT(*) FROM assay_purchase", []), ["[1]"])
    }
  }

  private static func keys(of evidence: Document) throws -> PurchaseKeys {
    let configuration = try ConfigurationReader.read(
      try Minted.config(SQLiteStore.catalogue).bytes)
    let verified = try require(evidence.evidence)
    let purchase = try require(try LedgerPurchase.all([verified], configuration.products).first)
    return try require(PurchaseKeys(purchase))
  }

  @Test("STM-2 the text is kept with the row that names it, and with no other")
  func keptText() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)])
    let kept = "SELECT COUNT(*) FROM assay_evidence"
    let named = "\(kept) WHERE digest IN (SELECT evidence FROM assay_purchase)"
    try store.run(claim(), [try month(store)])
    try checkEqual(store.run(kept, []), ["[1]"])
    try checkEqual(store.run(named, []), ["[1]"])
    expect(
      try store.run(claim("bob", 2), [try month(store, signed: 1000)]), "other-account",
      "rejected.purchase.other-account", answer: "refused-final")
    try store.run(
      ["operation": "update-subscriptions", "account": "ann"], [try month(store, 1, signed: 2)])
    expect(
      try store.run(claim("bob", 3), [try month(store, 2, signed: 3)]), "other-account",
      "rejected.subscription.other-account", answer: "refused-final")
    // The other stored text is the evidence of the subscription.
    try checkEqual(store.run(kept, []), ["[2]"])
    try checkEqual(store.run(named, []), ["[1]"])
  }

  @Test("STM-2 the text is kept where a claim takes two steps, is taken over, refunded, reopened")
  func keptTexts() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)])
    let kept = "SELECT COUNT(*) FROM assay_evidence"
    let named = "\(kept) WHERE digest IN (SELECT evidence FROM assay_purchase)"
    let keys = try Self.keys(of: try coins(store))
    try store.run("INSERT INTO assay_purchase_key VALUES ('\(keys.transaction.string)','x')", [])
    expect(try store.run(claim(), [try coins(store)]), "new", "ok")
    checkEqual(store.marks, ["single", "single"])
    try checkEqual(store.run(named, []), ["[1]"])
    // Evidence that another account presents is not stored.
    expect(
      try store.run(claim("bob", 2), [try coins(store, signed: 1)]), "other-account",
      "rejected.purchase.other-account", answer: "refused-final")
    try checkEqual(store.run(kept, []), ["[1]"])
    let late = Minted.now + Self.minute
    let newer = try coins(store, signed: 2)
    expect(try store.run(claim("ann", 3), [newer], now: late), "resume", "ok")
    try checkEqual(store.run(named, []), ["[1]"])
    try checkEqual(store.run(kept, []), ["[2]"])
    try store.run(["operation": "revoke"], [try coins(store, signed: 3, revoked: true)])
    try checkEqual(store.run(named, []), ["[1]"])
    // An older refund changes nothing, and is not stored.
    try store.run(["operation": "revoke"], [try coins(store, signed: 1, revoked: true)])
    try checkEqual(store.run(kept, []), ["[3]"])
    expect(try store.run(claim("ann", 4), [try coins(store, signed: 4)]), "resume", "ok")
    try checkEqual(store.run(named, []), ["[1]"])
    try checkEqual(store.run(kept, []), ["[4]"])
  }

  @Test("STM-3 garbage are texts that no row names, a day after they were kept")
  func garbage() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)])
    let apply: JSONText = ["operation": "update-subscriptions", "account": "ann"]
    for signed in [0, 1, 2] as [Int64] {
      try store.run(apply, [try month(store, signed: signed)], now: Minted.now + signed)
    }
    expect(try store.run(claim(), [try coins(store)]), "new", "ok")
    func left(after milliseconds: Int64) throws -> [String] {
      let schema = try store.run(["operation": "describe-schema"], now: Minted.now + milliseconds)
      let root = try JSONReader.readObject(schema.json, caps: .evidence).root
      let calls = Array(try require(root.member("exchange")?.member("garbage")).children)
      checkEqual(calls.count, 6)
      let last = try require(calls.last)
      try store.run(
        try require(last.member("sql")?.text).string,
        Array(try require(last.member("args")).children))
      return try store.run("SELECT COUNT(*) FROM assay_evidence", [])
    }
    try checkEqual(left(after: 86_400_000), ["[4]"])
    try checkEqual(left(after: 86_400_001), ["[3]"])
    try checkEqual(left(after: 900_000_000), ["[2]"])
    try checkEqual(
      store.run(
        """
        SELECT COUNT(*) FROM assay_evidence WHERE digest IN (SELECT evidence FROM assay_purchase) \
        OR digest IN (SELECT evidence FROM assay_subscription)
        """, []), ["[2]"])
  }

  @Test("PAY-7 STO-25 a claim needs the ids of the purchase, each of them")
  func incomplete() throws {
    let store = try SQLiteStore()
    for (member, change) in [
      ("transactionId", { $0.transactionId = "" }),
      ("originalTransactionId", { $0.originalTransactionId = "" }),
      ("productId", { $0.productId = "" }),
    ] as [(String, (inout Purchase) -> Void)] {
      // The second piece is of the same purchase as the first, which has the member.
      let evidence = [try coins(store), try store.transaction(change)]
      for request in [claim(), ["operation": "update-subscriptions"]] {
        Exchanges.expect(
          try store.run(request, evidence), "rejected.payload.incomplete",
          at: "evidence[1]/\(member)", rule: "PAY-7")
      }
    }
    checkEqual(store.steps, 0)
  }

  @Test("DCD-20 STO-43 the account token that a claim expects, by the policy")
  func tokens() throws {
    let own = "11111111-1111-4111-8111-111111111111"
    let other = "22222222-2222-4222-8222-222222222222"
    let mismatch = "rejected.account.token-mismatch"
    let missing = "rejected.account.token-missing"
    for (policy, statuses) in [
      // Results for the other account's token, the own one, and none.
      ("when-given", [mismatch, "ok", missing]), ("if-present", [mismatch, "ok", "ok"]),
      // If the policy requires a token, no document without one is verified.
      ("required", [mismatch, "ok"]), ("ignored", ["ok", "ok", "ok"]),
    ] {
      for (token, status) in zip([other, own, nil], statuses) {
        let store = try SQLiteStore([("decision.accountToken", .string(policy))])
        let evidence = try store.transaction { $0.accountToken = token }
        let claimed = try store.run(
          claim("ann", 1, [("accountToken", .string(own.uppercased()))]), [evidence])
        checkEqual(claimed.name, status, "\(policy) \(token ?? "-")")
      }
      let store = try SQLiteStore([("decision.accountToken", .string(policy))])
      let evidence = try store.transaction { $0.accountToken = own }
      let unnamed = try store.run(claim(), [evidence])
      checkEqual(
        unnamed.name, (policy == "required" ? "misuse.decision.account" : "ok"), "\(policy)")
      // An App Store notification acts for the owner of the purchase.
      let event: JSONText = ["operation": "claim", "attemptId": .string(attemptId(2))]
      try check(store.run(event, [evidence]).name != "misuse.decision.account", "\(policy)")
      for wrong in ["x", own + "0", String(own.dropLast()) + "g"] {
        Exchanges.expect(
          try store.run(claim("ann", 3, [("accountToken", .string(wrong))]), [evidence]),
          "misuse.decision.account", at: "accountToken", rule: "DCD-20")
      }
    }
  }

  @Test("STO-28 an attempt belongs to one text of evidence")
  func attemptOfAnother() throws {
    let store = try SQLiteStore()
    try store.run(claim(), [try coins(store)])
    let other = try coins(store, signed: 1)
    expect(
      try store.run(claim(), [other]), "in-progress", "unavailable.claim.attempt-id",
      answer: "deferred")
    expect(
      try store.run(claim("ann", 2), [other]), "in-progress", "unavailable.claim.in-progress",
      answer: "deferred")
  }

  @Test("STO-24 a product that the catalogue does not have asks nothing of the store")
  func unknownProduct() throws {
    let store = try SQLiteStore()
    let evidence = try store.transaction { $0.productId = "com.example.app.unknown" }
    let claimed = try store.run(claim(), [evidence])
    expect(claimed, "unknown-product", "rejected.product.unknown", answer: "refused-keep")
    checkEqual(claimed.text("error.rule"), "STO-24")
    checkEqual(store.steps, 0)
  }

  @Test("STO-7 EXC-2 a claim takes verified purchases, and nothing else")
  func takes() throws {
    let store = try SQLiteStore()
    let good = try coins(store)
    let app = try Minted.verify(Minted.purchase.appTransactionPayload, .appTransaction)
    checkEqual(app.name, "ok")
    let payload = Minted.purchase.transactionPayload
    let foreign = try Minted.verify(payload, .transaction, [("clockSkewMs", 1000)])
    checkEqual(foreign.name, "ok")
    let refused = try Minted.verify(payload, .transaction, [("environments", ["Production"])])
    for request in [
      claim(), ["operation": "revoke"], ["operation": "update-subscriptions"],
      ["operation": "find", "account": "ann"],
    ] {
      for other in [app, foreign, refused] {
        Exchanges.expect(
          try store.run(request, [good, other]), "misuse.exchange.evidence", at: "evidence[1]",
          rule: "EXC-2")
      }
    }
    Exchanges.expect(
      try store.run(claim(), []), "misuse.exchange.evidence", at: "evidence", rule: "EXC-2")
    // Without a refund there is nothing to revoke.
    Exchanges.expect(
      try store.run(["operation": "revoke"], [good]), "misuse.exchange.evidence", at: "evidence",
      rule: "EXC-2")
    checkEqual(store.steps, 0)
    let configuration = try ConfigurationReader.read(
      try Minted.config(SQLiteStore.catalogue).bytes)
    #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[0]")) {
      _ = try LedgerPurchase.all([.several([])], configuration.products)
    }
  }

  @Test("RPL-3 an id that cannot be a key claims nothing, revokes nothing and makes no line")
  func nameless() throws {
    let store = try SQLiteStore()
    func purchase(_ id: String, revoked: Bool = false) throws -> Document {
      try store.transaction {
        $0.transactionId = id
        $0.originalTransactionId = id
        if revoked { $0.revocationDate = $0.signedDate - 1000 }
      }
    }
    let nameless = try purchase("0")
    let claimed = try store.run(claim(), [nameless])
    expect(claimed, "refused", "rejected.purchase.invalid-id", answer: "refused-final")
    checkEqual(claimed.text("error.rule"), "RPL-3")
    let apply: JSONText = ["operation": "update-subscriptions", "account": "ann"]
    let applied = try store.run(apply, [nameless])
    Exchanges.expect(applied, "rejected.purchase.invalid-id", at: "subscriptions", rule: "RPL-3")
    let revoked = try store.run(["operation": "revoke"], [try purchase("0", revoked: true)])
    checkEqual(revoked.text("exchange.revocations.0.outcome"), "refused")
    for table in ["purchase_key", "purchase", "subscription"] {
      try checkEqual(store.run("SELECT COUNT(*) FROM assay_\(table)", []), ["[0]"])
    }
    expect(try store.run(claim(), [try purchase("1")]), "new", "ok")
  }

  @Test("STO-23 STO-25 several purchases: each by itself, the newest first to be counted")
  func several() throws {
    let store = try SQLiteStore([("decision.familySharing", "deny")])
    let old = try store.transaction { $0.purchaseDate -= 1000 }
    let coins = try store.transaction {
      $0.type = .consumable
      $0.productId = SQLiteStore.coins
      $0.expiresDate = nil
      $0.transactionId = "2000000900000009"
      $0.originalTransactionId = "2000000900000009"
    }
    let newest = try store.run(claim("ann", 1, [("maxPurchases", 1)]), [coins, old])
    expect(newest, "new", "ok")
    checkEqual(newest.integer("exchange.remaining"), 1)
    checkEqual(newest.text("exchange.claims.0.transactionId"), "2000000900000009")
    let chosen = claim("bob", 2, [("transactionIds", ["2000000900000001"])])
    let other = try store.run(chosen, [coins, old])
    checkEqual(other.text("exchange.claims.0.transactionId"), "2000000900000001")
    check(other.text("exchange.claims.1.transactionId") == nil)
    // A purchase of another account does not stop the own one.
    let both = try store.run(claim("bob", 2), [coins, old])
    expect(both, "new", "ok")
    checkEqual(both.text("exchange.claims.0.outcome"), "new")
    checkEqual(both.text("exchange.claims.1.outcome"), "other-account")
    let others = try store.run(claim("eve", 3), [coins, old])
    expect(others, "other-account", "rejected.purchase.other-account", answer: "refused-final")
    let none = try store.run(
      claim("eve", 5, [("transactionIds", ["2000000900000008"])]), [coins, old])
    expect(none, "none", "rejected.payload.incomplete", answer: "refused-keep")
    checkEqual(none.text("error.rule"), "STO-25")
    for (change, outcome) in [
      ({ $0.isUpgraded = true }, "upgraded"), ({ $0.ownership = "FAMILY_SHARED" }, "family-shared"),
    ] as [((inout Purchase) -> Void, String)] {
      expect(
        try store.run(claim("eve", 4), [try store.transaction(change)]), outcome,
        "rejected.purchase.\(outcome)", answer: "refused-final")
    }
  }

  @Test("STO-25 DCD-12 who else may hold a purchase, a claim and a line take as a decision does")
  func holders() throws {
    for (ownership, family, isTaken) in [
      ("PURCHASED", "deny", true), ("ASSIGNED", "deny", true), ("FAMILY_SHARED", "deny", false),
      ("FUTURE", "deny", false), ("FAMILY_SHARED", "allow", true),
    ] {
      let store = try SQLiteStore([("decision.familySharing", .string(family))])
      let evidence = try store.transaction { $0.ownership = ownership }
      let claimed = try store.run(claim(), [evidence])
      checkEqual(
        claimed.text("exchange.outcome"), (isTaken ? "new" : "family-shared"),
        "\(ownership) \(family)")
      let applied = try store.run(
        ["operation": "update-subscriptions", "account": "ann"], [evidence])
      checkEqual(
        applied.text("exchange.subscriptions.0.outcome"), (isTaken ? "applied" : "excluded"),
        "\(ownership) \(family)")
    }
  }

  @Test("DCD-20 a receipt, which carries no account, is refused where one is required")
  func required() throws {
    let receipts = try ReceiptAuthority()
    let account: [(String, JSONText)] = [("accountToken", "11111111-1111-4111-8111-111111111111")]
    for (policy, status) in [
      ("required", "rejected.account.token-missing"), ("when-given", "ok"), ("if-present", "ok"),
    ] {
      let store = try SQLiteStore([
        ("decision.accountToken", .string(policy)),
        ("receipts", receipts.configuration),
      ])
      let evidence = try store.receipt(receipts)
      try checkEqual(store.run(claim("ann", 1, account), [evidence]).name, status, "\(policy)")
    }
  }

  @Test(
    "STO-21 the row for which the host grants in the claim's transaction stays as it was read",
    arguments: [LedgerEngine.postgres, .mariadb])
  func locked(_ engine: LedgerEngine) throws {
    let verifier = try Minted.verifier(
      SQLiteStore.catalogue + [("ledger", StoreAnswer.stores(engine))])
    let jws = try Minted.authority().mint(Minted.purchase.transactionPayload)
    let evidence = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    // The INSERT locks an existing row and returns it; under a lease PostgreSQL only reads it, and a
    // repeated purchase writes nothing (STO-33).
    let locks =
      engine == .postgres ? "ON CONFLICT (purchase_key) DO UPDATE" : "ON DUPLICATE KEY UPDATE"
    let reads =
      engine == .postgres ? "UNION ALL SELECT purchase_key,environment," : "ON DUPLICATE KEY UPDATE"
    for (mode, update) in [("transaction", locks), ("lease", reads)] {
      let script = LedgerScript(
        verifier, claim("ann", 1, [("grantMode", .string(mode))]), [evidence])
      try script.answer("{},{},{},{},{},{\"rows\":[[\"key\",\"ann\"]]}")
      let text = try require(script.sql())
      check(text.contains("INSERT INTO assay_purchase (") && text.contains(update), "\(mode)")
      check(text.contains(" RETURNING purchase_key,environment,"), "\(mode)")
      check(script.sql(1) == nil, "\(mode)")
    }
  }

  @Test("STO-33 on PostgreSQL, a row that was stored while the claim's statement ran is read again")
  func storedMeanwhile() throws {
    let verifier = try Minted.verifier(
      SQLiteStore.catalogue + [("ledger", StoreAnswer.stores(.postgres))])
    var purchase = Minted.purchase
    purchase.type = .consumable
    purchase.productId = SQLiteStore.coins
    purchase.webOrderLineItemId = nil
    let jws = try Minted.authority().mint(purchase.transactionPayload)
    let evidence = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    let script = LedgerScript(verifier, claim(), [evidence])
    let name = script.source("exchange.database.calls.0.args.0")
    // Key and row are one statement; without a row the key alone is stored and read.
    checkEqual(script.sql()?.contains("), stored AS (INSERT INTO assay_purchase ("), true)
    try script.answer("{\"rows\":[]}")
    checkEqual(script.sql()?.contains("INSERT INTO assay_purchase ("), false)
    checkEqual(script.arguments(), "[\"\(name)\",\"\(name)\",\"\(name)\"]")
    try script.answer("{\"rows\":[]}")
    checkEqual(script.sql()?.hasPrefix("SELECT COALESCE(b.target, a.target)"), true)
    try script.answer("{\"rows\":[[\"\(name)\"]]}")
    checkEqual(script.sql()?.contains("INSERT INTO assay_purchase ("), true)
    try script.answer("{\"rows\":[]}")
    checkEqual(script.sql()?.hasPrefix("SELECT purchase_key,environment,"), true)
    checkEqual(script.source("exchange.database.calls.0.args.0"), name)
    try script.answer("{\"rows\":[]}")
    checkEqual(script.document.name, "unavailable.database.row-missing")
  }

  @Test(
    "EXC-24 STM-2 what must not be seen in part is one transaction, on servers too",
    arguments: [LedgerEngine.postgres, .mariadb])
  func inOneTransaction(_ engine: LedgerEngine) throws {
    func script(
      _ request: JSONText, isCoins: Bool = false, revoked: Bool = false,
      _ stores: [(String, JSONText)] = []
    ) throws -> LedgerScript {
      let verifier = try Minted.verifier(
        SQLiteStore.catalogue + [("ledger", StoreAnswer.stores(engine, stores))])
      var purchase = Minted.purchase
      if isCoins {
        purchase.type = .consumable
        purchase.productId = SQLiteStore.coins
        purchase.webOrderLineItemId = nil
      }
      if revoked { purchase.revocationDate = purchase.signedDate }
      let jws = try Minted.authority().mint(purchase.transactionPayload)
      let evidence = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
      return LedgerScript(verifier, request, [evidence])
    }
    func mark(_ script: LedgerScript) -> String? {
      script.document.text("exchange.database.transaction")
    }
    checkEqual(mark(try script(claim())), "single")
    let event: JSONText = ["operation": "claim", "attemptId": .string(attemptId(1))]
    check(mark(try script(event)) == nil)
    // A claim of coins under a lease is one statement on PostgreSQL, and two on MariaDB.
    let coins = try script(claim(), isCoins: true)
    check(mark(coins) == nil && coins.sql(1) == nil)
    let name = coins.source("exchange.database.calls.0.args.0")
    if engine == .mariadb { try coins.answer("{\"rows\":[[\"\(name)\"]]}") }
    check(mark(coins) == nil && coins.sql(1) == nil)
    checkEqual(coins.sql()?.contains(" RETURNING purchase_key"), true)
    let renamed = try script(claim(), isCoins: true)
    if engine == .postgres { try renamed.answer("{\"rows\":[]}") }
    try renamed.answer("{\"rows\":[[\"Sandbox/1/2\"]]}")
    checkEqual(renamed.sql()?.hasPrefix("SELECT COALESCE(b.target, a.target)"), true)
    try renamed.answer("{\"rows\":[[\"Sandbox/1\"]]}")
    checkEqual(renamed.source("exchange.database.calls.0.args.0"), "Sandbox/1")
    let kept = try script(claim(), isCoins: true, [("keepEvidence", true)])
    if engine == .mariadb { try kept.answer("{\"rows\":[[\"\(name)\"]]}") }
    checkEqual(mark(kept), "single")
    checkEqual(kept.sql(1)?.hasPrefix("INSERT INTO assay_evidence"), true)
    let revoke = try script(["operation": "revoke"], revoked: true)
    checkEqual(mark(revoke), "single")
    try revoke.answer("{},{},{\"rows\":[[\"key\"]]}")
    checkEqual(mark(revoke), "begin")
    checkEqual(revoke.sql(2)?.hasSuffix(" FOR UPDATE"), true)
    let apply = try script(
      ["operation": "update-subscriptions", "account": "ann"], [("transfer", "allow")])
    checkEqual(mark(apply), "single")
    let line = """
      ["Sandbox","2000000900000001","bob","p","premium","t",1,2,null,null,3,"e",null,0,0,4,null,1,
        null,null,null]
      """
    try apply.answer("{\"rows\":[\(line)]},{},{},{},{\"rows\":[\(line)]}")
    checkEqual(apply.sql()?.hasPrefix("UPDATE assay_subscription SET owner"), true)
    checkEqual(mark(apply), "single")
  }

  private func month(
    _ store: SQLiteStore, _ period: Int64 = 0, signed: Int64 = 0, revoked: Bool = false
  ) throws -> Document {
    try store.transaction {
      $0.transactionId = "20000009000001\(10 + period)"
      $0.webOrderLineItemId = "20000000500001\(10 + period)"
      $0.purchaseDate += period * 1000
      $0.signedDate += signed
      if revoked { $0.revocationDate = $0.signedDate }
    }
  }

  @Test(
    "RPL-2 of an account's line nobody else claims anything, by lease or in its transaction",
    arguments: ["lease", "transaction"])
  func othersLine(_ mode: String) throws {
    let store = try SQLiteStore()
    let apply: JSONText = ["operation": "update-subscriptions", "account": "ann"]
    try store.run(apply, [try month(store)])
    let next = try month(store, 1)
    func claim(_ account: String, _ attempt: Int) -> JSONText {
      self.claim(account, attempt, [("grantMode", .string(mode))])
    }
    let others = try store.run(claim("bob", 1), [next])
    expect(others, "other-account", "rejected.subscription.other-account", answer: "refused-final")
    checkEqual(others.text("error.rule"), "RPL-2")
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_purchase", []), ["[0]"])
    expect(
      try store.run(claim("ann", 2), [next]), "new", "ok",
      answer: mode == "lease" ? nil : "granted")
    // A purchase that she owns stays hers, whichever account owns the subscription by now.
    try store.run("UPDATE assay_subscription SET owner = 'bob'", [])
    let own = try store.run(claim("ann", 2), [next])
    checkEqual(own.text("exchange.outcome"), (mode == "lease" ? "new" : "already-granted"))
    expect(
      try store.run(claim("bob", 3), [next]), "other-account", "rejected.purchase.other-account",
      answer: "refused-final")
    expect(
      try store.run(claim("bob", 4), [try month(store, 2)]), "new", "ok",
      answer: mode == "lease" ? nil : "granted")
  }

  private func owners(_ store: SQLiteStore) throws -> [String] {
    try store.run(
      """
      SELECT owner, transaction_id, as_of_ms FROM assay_subscription \
      ORDER BY original_transaction_id
      """, [])
  }

  @Test(
    "RPL-2 the first account that claims a line owns it, by lease or in its transaction",
    arguments: ["lease", "transaction"])
  func ownLine(_ mode: String) throws {
    let store = try SQLiteStore()
    func claim(_ account: String, _ attempt: Int) -> JSONText {
      self.claim(account, attempt, [("grantMode", .string(mode))])
    }
    let answer = mode == "lease" ? nil : "granted"
    expect(try store.run(claim("ann", 1), [try month(store)]), "new", "ok", answer: answer)
    // Another period of the subscription, not claimed yet.
    let others = try store.run(claim("bob", 2), [try month(store, 1)])
    expect(others, "other-account", "rejected.subscription.other-account", answer: "refused-final")
    checkEqual(others.text("error.rule"), "RPL-2")
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_purchase", []), ["[1]"])
    expect(
      try store.run(claim("ann", 3), [try month(store, 1, signed: 5)]), "new", "ok",
      answer: answer)
    // The subscription is transferred like one that was updated.
    let apply: JSONText = ["operation": "update-subscriptions", "account": "bob"]
    let refused = try store.run(apply, [try month(store, 2, signed: 9)])
    checkEqual(refused.name, "rejected.subscription.other-account")
    try checkEqual(
      store.run(["operation": "get-plan", "account": "ann"]).text("exchange.plan"), "premium")
  }

  @Test("RPL-2 STO-40 a claim shows its line as an apply does: newer evidence, never older")
  func shownLine() throws {
    let store = try SQLiteStore()
    let now = Minted.purchase.signedDate
    func owner(_ period: Int, _ signed: Int64) -> String {
      "[\"ann\",\"20000009000001\(10 + period)\",\(now + signed)]"
    }
    expect(try store.run(claim("ann", 1), [try month(store, 1, signed: 5)]), "new", "ok")
    try checkEqual(owners(store), [owner(1, 5)])
    expect(try store.run(claim("ann", 2), [try month(store, 0, signed: 4)]), "new", "ok")
    try checkEqual(owners(store), [owner(1, 5)])
    // The newest period of the evidence, whichever is claimed, stored once for all of them.
    let evidence = [try month(store, 2, signed: 6), try month(store, 3, signed: 7)]
    let older: [(String, JSONText)] = [("transactionIds", ["2000000900000112"])]
    let chosen = try store.run(claim("ann", 3, older), evidence)
    expect(chosen, "new", "ok")
    checkEqual(chosen.text("exchange.claims.0.transactionId"), "2000000900000112")
    try checkEqual(owners(store), [owner(3, 7)])
    // A refund of the newest period is the subscription's state; earlier paid periods are granted.
    let refunded = [
      try month(store, 4, signed: 8), try month(store, 5, signed: 9, revoked: true),
    ]
    expect(try store.run(claim("ann", 4), refunded), "new", "ok")
    try checkEqual(owners(store), [owner(5, 9)])
    try checkEqual(
      store.run("SELECT COUNT(*) FROM assay_subscription WHERE revoked_at_ms > 0", []), ["[1]"])
    // Neither another account nor a notification changes the subscription.
    let later = try month(store, 6, signed: 10)
    expect(
      try store.run(claim("bob", 5), [later]), "other-account",
      "rejected.subscription.other-account",
      answer: "refused-final")
    let event: JSONText = ["operation": "claim", "attemptId": .string(attemptId(6))]
    expect(try store.run(event, [later]), "unclaimed", "ok", answer: "deferred")
    try checkEqual(owners(store), [owner(5, 9)])
  }

  @Test("RPL-2 what makes no line makes none: coins, an upgrade, what is refused")
  func lineless() throws {
    let store = try SQLiteStore([("decision.familySharing", "deny")])
    expect(try store.run(claim("ann", 1), [try coins(store)]), "new", "ok")
    let upgraded = try store.transaction { $0.isUpgraded = true }
    _ = try store.run(claim("ann", 2), [upgraded])
    let shared = try store.transaction { $0.ownership = "FAMILY_SHARED" }
    _ = try store.run(claim("ann", 3), [shared])
    let tokens: [(String, JSONText)] = [("accountToken", "11111111-1111-4111-8111-111111111111")]
    let foreign = try store.transaction {
      $0.accountToken = "22222222-2222-4222-8222-222222222222"
    }
    try checkEqual(
      store.run(claim("ann", 4, tokens), [foreign]).name, "rejected.account.token-mismatch")
    try checkEqual(owners(store), [])
    // Of two periods, the one of another account changes nothing about the subscription.
    let own = try store.transaction {
      $0.transactionId = "2000000900000111"
      $0.signedDate += 1
      $0.accountToken = "11111111-1111-4111-8111-111111111111"
    }
    let chosen = try store.run(
      claim("ann", 5, tokens),
      [
        own,
        try store.transaction {
          $0.transactionId = "2000000900000119"
          $0.purchaseDate += 9000
          $0.accountToken = "22222222-2222-4222-8222-222222222222"
        },
      ])
    checkEqual(chosen.text("exchange.claims.0.outcome"), "new")
    try checkEqual(
      owners(store), ["[\"ann\",\"2000000900000111\",\(Minted.purchase.signedDate + 1)]"])
  }

  @Test("RPL-2 RPL-3 an original id that cannot be a key makes no line, and the claim goes on")
  func unnamedLine() throws {
    let season: JSONText = ["type": "non-renewing", "duration": "P90D", "plan": "standard"]
    let store = try SQLiteStore([("products", ["com.example.app.season": season])])
    for (id, count) in [("0", 0), ("2000000900000001", 1)] {
      let evidence = try store.transaction {
        $0.type = .nonRenewing
        $0.productId = "com.example.app.season"
        $0.transactionId = "200000090000033\(count)"
        $0.originalTransactionId = id
        $0.webOrderLineItemId = nil
        $0.expiresDate = nil
        $0.group = nil
      }
      expect(try store.run(claim("ann", count + 1), [evidence]), "new", "ok")
      try checkEqual(owners(store).count, count)
    }
  }

  @Test("RPL-2 STO-68 the text of a line that a claim has shown is kept")
  func shownText() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)])
    let evidence = [try month(store), try month(store, 1, signed: 1)]
    expect(
      try store.run(claim("ann", 1, [("transactionIds", ["2000000900000110"])]), evidence), "new",
      "ok")
    try checkEqual(
      store.run(
        """
        SELECT COUNT(*) FROM assay_subscription l \
        JOIN assay_evidence e ON e.digest = l.evidence
        """, []),
      ["[1]"])
  }

  @Test("RPL-2 STO-32 a grant that fails in the claim's transaction binds nothing")
  func unbound() throws {
    let store = try SQLiteStore()
    let request = claim("ann", 1, [("grantMode", "transaction")])
    let failed = try store.run(request, [try month(store)]) { _ in false }
    expect(failed, "in-progress", "unavailable.claim.in-progress", answer: "deferred")
    try checkEqual(owners(store), [])
    expect(
      try store.run(claim("bob", 2, [("grantMode", "transaction")]), [try month(store)]), "new",
      "ok",
      answer: "granted")
  }

  @Test("EXC-24 an apply and a revocation on SQLite are one transaction a row")
  func oneCommit() throws {
    let store = try SQLiteStore()
    // A failed step leaves neither keys, subscription nor row.
    for (kind, count) in [("update-subscriptions", 2), ("revoke", 3)] {
      let before = store.steps
      let request: JSONText = ["operation": .string(kind)]
      let evidence = try month(store, revoked: kind == "revoke")
      try checkEqual(
        store.run(
          kind == "revoke" ? request : request.setting([("account", "ann")]), [evidence]
        )
        .name, "ok")
      checkEqual(store.steps - before, count)
    }
    checkEqual(store.marks, ["single", nil, "single", "begin", "commit"])
  }

  @Test("RPL-2 a line of nobody keeps nobody out; an event asks for no owner")
  func nobodysLine() throws {
    let store = try SQLiteStore()
    let period = try month(store)
    try store.run(["operation": "update-subscriptions"], [period])
    expect(try store.run(claim("bob", 1), [period]), "new", "ok")
    try store.run("UPDATE assay_subscription SET owner = 'ann'", [])
    let event: JSONText = [
      "operation": "claim", "attemptId": .string(attemptId(2)),
    ]
    expect(
      try store.run(event, [period]), "in-progress", "unavailable.claim.in-progress",
      answer: "deferred")
    let other = try month(store, 1)
    expect(try store.run(event, [other]), "unclaimed", "ok", answer: "deferred")
  }

  @Test("RPL-2 RFD-3 a tombstone of nobody is reopened by the owner of its line alone")
  func othersTombstone() throws {
    let store = try SQLiteStore()
    try store.run(["operation": "update-subscriptions", "account": "ann"], [try month(store)])
    let refunded = try month(store, 1, signed: 1000, revoked: true)
    try store.run(["operation": "revoke"], [refunded])
    let reversed = try month(store, 1, signed: 2000)
    expect(
      try store.run(claim("bob", 1), [reversed]), "other-account",
      "rejected.subscription.other-account", answer: "refused-final")
    expect(try store.run(claim("ann", 2), [reversed]), "resume", "ok")
  }

  @Test("STO-21 STO-32 the grant in the transaction of the claim; a failed one claims nothing")
  func inTransaction() throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    let request = claim("ann", 1, [("grantMode", "transaction")])
    let failed = try store.run(request, [evidence]) { _ in false }
    expect(failed, "in-progress", "unavailable.claim.in-progress", answer: "deferred")
    checkEqual(failed.text("error.rule"), "STO-32")
    checkEqual(failed.integer("exchange.retryAfterMs"), 0)
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_purchase", []), ["[0]"])
    var granted = 0
    let done = try store.run(request, [evidence]) { document in
      granted += 1
      return document.text("exchange.grant.product") == SQLiteStore.coins
    }
    expect(done, "new", "ok", answer: "granted")
    checkEqual(granted, 1)
    expect(
      try store.run(request, [evidence]), "already-granted", "rejected.purchase.already-granted",
      answer: "already-granted")
  }

  @Test("STO-4 a row that is not granted when the claim's transaction ends is missing")
  func ungranted() throws {
    let store = try SQLiteStore()
    let request = claim("ann", 1, [("grantMode", "transaction")])
    var row = ""
    let other = try SQLiteStore()
    try other.run(claim(), [try coins(other)])
    row = try require(try other.run("SELECT * FROM assay_purchase", []).first)
    for (state, status) in [
      ("claimed", "unavailable.database.row-missing"),
      ("revoked", "unavailable.database.row-missing"),
      ("granted", "ok"),
    ] {
      store.faults[store.steps + 3] = .answer(
        "{\"id\":ID,\"code\":200,\"results\":[{},{},{\"rows\":["
          + row.replacing("\"claimed\"", with: "\"\(state)\"") + "]}]}")
      try checkEqual(store.run(request, [try coins(store)]).name, status, "\(state)")
    }
  }

  @Test("STO-30 claims left behind come back to the sweeper, each once")
  func due() throws {
    let store = try SQLiteStore()
    try store.run(claim(), [try coins(store)])
    let due: JSONText = ["operation": "resume-expired", "attemptId": .string(attemptId(9))]
    let early = try store.run(due, now: Minted.now + 59_999)
    check(early.text("exchange.claims.0.outcome") == nil)
    let swept = try store.run(due, now: Minted.now + 60_000)
    checkEqual(swept.text("exchange.claims.0.outcome"), "resume")
    checkEqual(swept.text("exchange.claims.0.account"), "ann")
    checkEqual(swept.integer("exchange.claims.0.fencingToken"), 2)
    let other: JSONText = ["operation": "resume-expired", "attemptId": .string(attemptId(8))]
    try check(
      store.run(other, now: Minted.now + 60_000).text("exchange.claims.0.outcome") == nil)
    expect(
      try store.run(try swept.completion(), now: Minted.now + 60_001), "granted", "ok",
      answer: "granted")
  }

  @Test(
    "STO-30 STO-70 after a lost answer the sweeper finds its own rows", arguments: [true, false])
  func dueLost(_ isCarriedOut: Bool) throws {
    let store = try SQLiteStore()
    try store.run(claim(), [try coins(store)])
    try store.run(claim("bob", 2), [try month(store)], now: Minted.now - 1)
    store.faults[store.steps + 1] = .lost(carriedOut: isCarriedOut)
    let due: JSONText = ["operation": "resume-expired", "attemptId": .string(attemptId(9))]
    let swept = try store.run(due, now: Minted.now + Self.minute)
    checkEqual(swept.name, "ok")
    // The oldest claim comes first, each is taken over once.
    checkEqual(swept.text("exchange.claims.0.account"), "bob")
    checkEqual(swept.text("exchange.claims.1.account"), "ann")
    checkEqual(swept.integer("exchange.claims.0.fencingToken"), 2)
    checkEqual(swept.integer("exchange.claims.1.fencingToken"), 2)
  }

  @Test("STO-30 STO-4 a row that another sweeper holds is no answer")
  func dueOfAnother() throws {
    let store = try SQLiteStore()
    try store.run(claim(), [try coins(store)])
    let row = try require(try store.run("SELECT * FROM assay_purchase", []).first)
    let due: JSONText = ["operation": "resume-expired", "attemptId": .string(attemptId(9))]
    for (attempt, status) in [(1, "unavailable.database.unexpected-reply"), (9, "ok")] {
      let held = row.replacing(attemptId(1), with: attemptId(attempt))
      store.faults[store.steps + 1] = .answer(
        "{\"id\":ID,\"code\":200,\"results\":[{},{\"rows\":[\(held)]}]}")
      try checkEqual(store.run(due).name, status)
    }
  }

  @Test("STO-30 STO-27 support takes up one claim whose lease is over")
  func resumed() throws {
    let store = try SQLiteStore()
    let first = try store.run(claim(), [try coins(store)])
    func resume(
      _ more: [(String, JSONText)] = [], after milliseconds: Int64 = Self.minute
    ) throws -> Document {
      let request: JSONText = [
        "operation": "resume", "account": "ann", "attemptId": .string(attemptId(7)),
        "purchaseKey": .string(try require(first.text("exchange.claims.0.purchaseKey"))),
      ]
      return try store.run(request.setting(more), now: Minted.now + milliseconds)
    }
    expect(
      try resume(after: Self.minute - 1), "in-progress", "unavailable.claim.in-progress",
      answer: "deferred")
    let held = try resume([("onExpiredLease", "hold")])
    expect(held, "held", "unavailable.claim.held", answer: "deferred")
    checkEqual(held.text("error.rule"), "STO-27")
    checkEqual(held.integer("exchange.claims.0.claimedAtMs"), Minted.now)
    expect(
      try resume([("account", "bob")]), "other-account", "rejected.purchase.other-account",
      answer: "refused-final")
    let absent = try resume([("purchaseKey", "Sandbox/2000000900000999")])
    Exchanges.expect(absent, "unavailable.database.row-missing", rule: "STO-4")
    try checkEqual(resume([("resolution", "later")]).name, "misuse.exchange.request")
    let taken = try resume([
      ("onExpiredLease", "hold"), ("resolution", "not-granted"), ("note", "by hand"),
    ])
    expect(taken, "resume", "ok")
    checkEqual(taken.integer("exchange.claims.0.fencingToken"), 2)
    try checkEqual(
      store.run("SELECT note FROM assay_audit WHERE action = 'hand'", []), ["[\"by hand\"]"])
    expect(
      try store.run(try taken.completion(), now: Minted.now + Self.minute), "granted", "ok",
      answer: "granted")
  }

  @Test("LST-2 support finds what became of a purchase, and never whose it is")
  func lookup() throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    let ask: JSONText = ["operation": "find", "account": "ann"]
    try checkEqual(store.run(ask, [evidence]).text("exchange.outcome"), "unused")
    let first = try store.run(claim(), [evidence])
    try checkEqual(store.run(ask, [evidence]).text("exchange.outcome"), "resume")
    try store.run(try first.completion())
    try checkEqual(store.run(ask).text("exchange.outcome"), "already-delivered")
    let foreign = try store.run(
      [
        "operation": "find", "account": "bob", "environment": "Sandbox",
        "transactionId": "2000000900000001",
      ])
    checkEqual(foreign.text("exchange.outcome"), "used-by-other")
    check(!String(decoding: foreign.json, as: UTF8.self).contains("ann"))
    let shown = try store.run(
      [
        "operation": "find", "operatorView": true, "environment": "Sandbox",
        "transactionId": "2000000900000001",
      ])
    checkEqual(shown.text("exchange.rows.0.operatorView.account"), "ann")
    // A request must name something to find.
    let nobody: JSONText = ["operation": "find", "account": .null]
    Exchanges.expect(try store.run(nobody), "misuse.exchange.request", at: "account")
  }

  @Test(
    "STO-4 what is not understood is never read as absent",
    arguments: [
      #"{"id":ID,"code":200,"results":[]}"#,
      #"{"id":ID,"code":200,"results":[{},{"rows":[["a",null]]},{}]}"#,
      Self.answered("{}"), Self.answered(#"{"rows":[[1,null]]}"#),
      Self.answered(#"{"rows":[["a"]]}"#),
      Self.answered(#"{"rows":[["a",null,"b"]]}"#), Self.answered(#"{"rows":[["a",1]]}"#),
      Self.answered(#"{"rows":[["a",null],["b",null]]}"#), Self.answered(#"{"rows":[[{},null]]}"#),
      Self.answered(#"{"rows":[["a",null]]}"#, row: "{}"),
      Self.answered(#"{"rows":[["a",null]]}"#, row: #"{"rows":[["a"],["b"]]}"#),
      Self.answered(#"{"rows":[["KEY",null]]}"#, row: #"{"rows":[["KEY"]]}"#),
    ])
  func shapes(_ answer: String) throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    let key = try Self.keys(of: evidence).purchase.string
    store.faults[1] = .answer(answer.replacing("KEY", with: key))
    let document = try store.run(claim(), [evidence])
    checkEqual(document.name, "unavailable.database.unexpected-reply")
    checkEqual(store.steps, 1)
  }

  /// Returns the reply to a claim's step: keys, subscription and the stored row.
  private static func answered(_ names: String, row: String = #"{"rows":[]}"#) -> String {
    #"{"id":ID,"code":200,"results":[{},\#(names),{},\#(row)]}"#
  }

  @Test("STO-4 the row of another purchase, line or account is no answer")
  func othersRow() throws {
    let store = try SQLiteStore()
    try store.run(claim("ann", 1, [("grantMode", "transaction")]), [try coins(store)])
    let apply: JSONText = ["operation": "update-subscriptions", "account": "ann"]
    try store.run(apply, [try month(store)])
    let purchase = try require(try store.run("SELECT * FROM assay_purchase", []).first)
    let line = try require(try store.run("SELECT * FROM assay_subscription", []).first)
    func refused(
      _ request: JSONText, _ evidence: [Document], step: Int, _ results: String, _ place: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      store.faults[store.steps + step] = .answer(
        "{\"id\":ID,\"code\":200,\"results\":[\(results)]}")
      let document = try store.run(request, evidence)
      checkEqual(
        document.name, "unavailable.database.unexpected-reply", sourceLocation: sourceLocation)
      checkEqual(document.text("error.at"), place, sourceLocation: sourceLocation)
    }
    let row = "{\"rows\":[\(purchase)]}"
    let other = try month(store, 3)
    let key = try Self.keys(of: other).purchase.string
    let leads = "{\"rows\":[[\"\(key)\",null]]}"
    let refund = try month(store, 4, revoked: true)
    try refused(
      claim("ann", 2), [other], step: 1, "{},{},{},{},{},\(leads),{},\(row)", "purchase_key")
    let event: JSONText = ["operation": "claim", "attemptId": .string(attemptId(3))]
    try refused(event, [other], step: 1, "{},{},\(leads),\(row)", "purchase_key")
    try refused(
      ["operation": "revoke"], [refund], step: 2, "{\"rows\":[]},{},\(row)", "purchase_key")
    let complete: JSONText = [
      "operation": "complete", "account": "ann", "purchaseKey": "Sandbox/2000000900000999",
      "grantId": .string(String(repeating: "a", count: 64)),
    ]
    try refused(complete, [], step: 1, "{\"rows\":[]},{},{},\(row)", "purchase_key")
    try refused(
      ["operation": "find", "account": "bob"], [], step: 1, row, "owner")
    let ofLine = "{\"rows\":[\(line)]}"
    let elsewhere = try month(store, 5)
    let next = try store.transaction { $0.originalTransactionId = "2000000900000777" }
    try refused(
      apply, [next], step: 1, "{\"rows\":[]},{},{},{},\(ofLine)", "original_transaction_id")
    let ofProduction = ofLine.replacing("\"Sandbox\"", with: "\"Production\"")
    try refused(
      apply, [elsewhere], step: 1, "{\"rows\":[]},{},{},{},\(ofProduction)",
      "original_transaction_id")
    try refused(apply, [elsewhere], step: 2, ofLine.replacing("\"ann\"", with: "\"bob\""), "owner")
    try refused(
      ["operation": "get-plan", "account": "bob"], [], step: 1, ofLine, "owner")
  }

  @Test("STO-71 the codes of the engine: busy, unclear and fatal")
  func codes() throws {
    let store = try SQLiteStore()
    let evidence = try coins(store)
    store.faults[1] = .failed("5")
    expect(try store.run(claim(), [evidence]), "new", "ok")
    let full = try SQLiteStore()
    full.faults[1] = .failed("13")
    let document = try full.run(claim(), [try coins(full)])
    checkEqual(document.name, "unavailable.database.statement-failed")
    let busy = try SQLiteStore()
    for step in 1...4 { busy.faults[step] = .failed("5") }
    try checkEqual(
      busy.run(claim(), [try coins(busy)]).name, "unavailable.database.contention")
    checkEqual(busy.steps, 4)
  }

  @Test(
    "STO-5, STO-8, STO-29 the host's own values",
    arguments: [
      ("account", JSONText.string("a "), "misuse.ledger.account"),
      ("account", "", "misuse.ledger.account"),
      ("account", "a\u{1}", "malformed.ledger.text"),
      ("attemptId", "short", "misuse.ledger.attempt-id"),
      ("attemptId", "attempt-0000000000000", "misuse.ledger.attempt-id"),
      ("attemptId", "attempt-00000000000 00", "misuse.ledger.attempt-id"),
      ("attemptId", .string("".padded(to: 65)), "misuse.ledger.attempt-id"),
      ("leaseMs", 0, "misuse.ledger.lease"), ("leaseMs", 1, "misuse.ledger.lease"),
      ("leaseMs", -1, "misuse.ledger.lease"), ("leaseMs", 3_600_001, "misuse.ledger.lease"),
      ("leaseMs", 4999, "misuse.ledger.lease"), ("leaseMs", "60000", "misuse.ledger.lease"),
      ("onExpiredLease", "wait", "misuse.exchange.request"),
      ("note", "a\u{1}", "misuse.exchange.request"),
      ("maxPurchases", 65, "misuse.exchange.request"),
      ("grantMode", "other", "misuse.exchange.request"),
    ])
  func values(_ name: String, _ value: JSONText, _ status: String) throws {
    let store = try SQLiteStore()
    let document = try store.run(claim("ann", 1, [(name, value)]), [try coins(store)])
    checkEqual(document.name, status)
    checkEqual(document.text("error.at"), name)
  }

  @Test(
    "STO-5, STO-8, STO-29 the host's own values, just inside",
    arguments: [
      ("account", JSONText.string("a a")), ("account", .string("".padded(to: 255))),
      ("attemptId", "attempt-00000000000000"), ("attemptId", .string("".padded(to: 64))),
      ("leaseMs", 5000), ("leaseMs", 3_600_000), ("maxPurchases", 64),
    ])
  func goodValues(_ name: String, _ value: JSONText) throws {
    let store = try SQLiteStore()
    let document = try store.run(claim("ann", 1, [(name, value)]), [try coins(store)])
    checkEqual(document.name, "ok", "\(document.text("error.at") ?? "")")
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: "0", count: max(0, count - self.count))
  }
}
