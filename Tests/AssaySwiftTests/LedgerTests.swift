import AssayAuthority
import AssaySQLite
import AssaySwift
import Foundation
import Testing

/// Tests the ledger of Swift hosts, on SQLite and on unreachable databases.
@Suite("Ledger")
struct LedgerTests {
  typealias Verifier = AssaySwift.Verifier
  typealias JSON = AssaySwift.JSON
  static let now = Timestamp(milliseconds: 1_795_219_200_000)
  private static let authority = Result { try Authority(now: now.milliseconds) }
  private static let coins = "com.example.app.coins"

  // MARK: a shop

  /// A verifier and a ledger over a file of its own.
  private final class Shop: Sendable {
    let folder: URL
    let verifier: Verifier
    let ledger: Ledger

    var path: String { folder.appendingPathComponent("shop.db").path }

    init(hasTables: Bool = true) async throws {
      folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("assay-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      verifier = try LedgerTests.verifier()
      ledger = try Ledger(
        sqlite: folder.appendingPathComponent("shop.db").path, verifier, maxWait: .seconds(5))
      if hasTables {
        let made = try await ledger.createSchema(at: now)
        #expect(made.outcome == "created")
        #expect(made.lineage?.count == 32)
      }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func transaction(_ change: (inout Purchase) -> Void = { _ in }) throws -> Transaction {
      var purchase = Purchase(now: now.milliseconds)
      change(&purchase)
      let jws = try LedgerTests.authority.get().mint(purchase.transactionPayload)
      return try verifier.verifyTransaction(String(decoding: jws, as: UTF8.self), at: now)
    }

    func coins(isRevoked: Bool = false) throws -> Transaction {
      try transaction {
        $0 = $0.of(LedgerTests.coins, .consumable)
        $0.quantity = 3
        if isRevoked {
          $0.signedDate += 1000
          $0.revocationDate = $0.signedDate - 500
          $0.revocationReason = 0
        }
      }
    }

    /// Returns rows of the shop's own tables in the file.
    func rows(_ sql: String) throws -> [[SQLiteValue]] {
      try SQLiteReader(path).rows(sql)
    }
  }

  private static func verifier(
    _ stores: JSON = [
      "engine": "sqlite", "forgetKey": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=",
      // Parallel tests keep all threads busy for longer than a request may take.
      "requestMs": 600_000,
    ]
  ) throws -> Verifier {
    try Verifier([
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"],
        "com.example.app.coins": ["type": "consumable"],
      ],
      "quotas": ["free": ["calls": 2], "premium": ["calls": 5]],
      "storekit": ["anchors": [JSON(try authority.get().anchor)]],
      "ledger": stores,
    ])
  }

  /// The grants in their order.
  private actor Seen {
    private(set) var grants: [String] = []
    private(set) var units: [Int64] = []

    func grant(_ id: String, _ count: Int64) {
      grants.append(id)
      units.append(count)
    }
  }

  private struct Failure: Error, Equatable {}

  private func refused(
    _ body: () async throws -> Void, _ line: SourceLocation = #_sourceLocation
  ) async throws -> AssayError {
    do {
      try await body()
    } catch let refusal as AssayError {
      return refusal
    }
    Issue.record("not refused", sourceLocation: line)
    throw Failure()
  }

  // MARK: claims

  @Test("a purchase is granted and completed once, whoever shows it again")
  func claims() async throws {
    let shop = try await Shop()
    let seen = Seen()
    let coins = try shop.coins()
    let pay: Granting = { grant in
      #expect(grant.executor == nil && grant.product == LedgerTests.coins)
      #expect(grant.fencingToken == 1)
      #expect(grant.account == "ann" && !grant.isRepeated)
      await seen.grant(grant.grantId, grant.units)
      return true
    }
    let first = try await shop.ledger.claim([coins], account: "ann", grant: pay, at: Self.now)
    #expect(first.status == .ok && first.outcome == "new" && first.clientResult == .granted)
    #expect(first.changed == true && first.claims.count == 1)
    #expect(first.claim?.outcome == .new && first.claim?.quantity == 3)
    #expect(first.claim?.grantedAt != nil && first.claim?.needsGrant == true)
    #expect(first.description == "ClaimResult, ok")
    let again = try await shop.ledger.claim([coins], account: "ann", grant: pay, at: Self.now)
    #expect(again.status == .rejectedPurchaseAlreadyGranted && again.httpStatus == 200)
    #expect(again.clientResult == .alreadyGranted && again.outcome == "already-granted")
    let other = try await shop.ledger.claim([coins], account: "bob", grant: pay, at: Self.now)
    #expect(other.status == .rejectedPurchaseOtherAccount && other.clientResult == .refusedFinal)
    await #expect(seen.grants.count == 1)
    await #expect(seen.units == [3])
    let found = try await shop.ledger.find(
      account: "ann", environment: "Sandbox", transactionId: "2000000900000001",
      operatorView: true, at: Self.now)
    #expect(found.rows.first?.state == .granted && found.rows.first?.isOwn == true)
    #expect(found.rows.first?.operatorView?.account == "ann")
  }

  @Test("without a grant the host grants and completes, twice with one effect")
  func completes() async throws {
    let shop = try await Shop()
    let coins = try shop.coins()
    let claim = try await shop.ledger.claim(
      [coins], account: "ann", attemptId: "attempt-0000000000000001", at: Self.now)
    #expect(claim.outcome == "new" && claim.clientResult == nil)
    let grant = try #require(claim.claim.flatMap { Grant($0) })
    let repeated = try await shop.ledger.claim(
      [coins], account: "ann", attemptId: "attempt-0000000000000001", at: Self.now)
    #expect(repeated.claim?.grantId == grant.grantId)
    let busy = try await shop.ledger.claim([try shop.coins()], account: "ann", at: Self.now)
    #expect(busy.status == .unavailableClaimInProgress && busy.outcome == "in-progress")
    #expect(busy.claim?.retryAfter != nil)
    for changed in [true, false] {
      let done = try await shop.ledger.complete(
        purchaseKey: grant.purchaseKey, account: grant.account, grantId: grant.grantId,
        fencingToken: grant.fencingToken, note: "by hand", at: Self.now)
      #expect(done.outcome == "granted" && done.changed == changed && done.clientResult == .granted)
    }
    let others = try await shop.ledger.complete(
      purchaseKey: grant.purchaseKey, account: "bob", grantId: grant.grantId, at: Self.now)
    #expect(others.status == .rejectedClaimSuperseded && others.outcome == "superseded")
  }

  @Test("what a grant under a lease did not do is taken over when the lease has ended")
  func takesOver() async throws {
    let shop = try await Shop()
    let coins = try shop.coins()
    await #expect(throws: Failure.self) {
      try await shop.ledger.claim(
        [coins], account: "ann", grant: { _ in throw Failure() }, at: Self.now)
    }
    let early = try await shop.ledger.resumeExpired(at: Self.now.advanced(by: .seconds(1)))
    #expect(early.claims.isEmpty && !early.hasMore)
    let seen = Seen()
    let due = try await shop.ledger.resumeExpired(
      lease: .seconds(60),
      grant: {
        #expect($0.fencingToken == 2 && $0.isRepeated)
        await seen.grant($0.grantId, $0.units)
        return true
      }, at: Self.now.advanced(by: .seconds(4000)))
    #expect(due.claims.map(\.clientResult) == [.granted])
    await #expect(seen.units == [3])
  }

  // MARK: in the transaction

  private static let pays: Granting = { grant in
    let database = try #require(grant.executor as? SQLiteExecutor)
    try database.execute(
      "INSERT INTO coins (grant_id, account, units) VALUES (?, ?, ?)",
      [.text(grant.grantId), .text(grant.account), .integer(grant.units)])
    let rows = try database.execute("SELECT account, units, NULL FROM coins")
    #expect(rows == [["ann", 3, nil]])
    return true
  }

  private func shopOfCoins() async throws -> Shop {
    let shop = try await Shop()
    _ = try shop.rows(
      "CREATE TABLE coins (grant_id TEXT PRIMARY KEY, account TEXT, units INTEGER)")
    return shop
  }

  @Test("a grant in the transaction is committed with the claim")
  func inTransaction() async throws {
    let shop = try await shopOfCoins()
    let coins = try shop.coins()
    for outcome in ["new", "already-granted"] {
      let claim = try await shop.ledger.claim(
        [coins], account: "ann", grantMode: "transaction", grant: Self.pays, at: Self.now)
      #expect(claim.outcome == outcome)
      #expect(try shop.rows("SELECT account, units FROM coins") == [["ann", 3]])
    }
    let needs = try await refused {
      _ = try await shop.ledger.claim(
        [coins], account: "ann", grantMode: "transaction", at: Self.now)
    }
    #expect(needs.status == .misuseExchangeRequest && needs.at == "grantMode")
  }

  @Test("a grant in the transaction that fails leaves nothing: neither claim nor coins")
  func failsInTransaction() async throws {
    let shop = try await shopOfCoins()
    let coins = try shop.coins()
    await #expect(throws: Failure.self) {
      try await shop.ledger.claim(
        [coins], account: "ann", grantMode: "transaction",
        grant: {
          _ = try await Self.pays($0)
          throw Failure()
        }, at: Self.now)
    }
    #expect(try shop.rows("SELECT * FROM coins").isEmpty)
    let nothing = try await shop.ledger.claim(
      [coins], account: "ann", grantMode: "transaction",
      grant: {
        _ = try await Self.pays($0)
        return false
      }, at: Self.now)
    #expect(nothing.status == .unavailableClaimInProgress && nothing.clientResult == .deferred)
    #expect(nothing.retryAfter == .zero)
    #expect(try shop.rows("SELECT * FROM coins").isEmpty)
    #expect(try shop.rows("SELECT * FROM assay_purchase").isEmpty)
    let other = try await shop.ledger.claim(
      [coins], account: "ann", grantMode: "transaction", grant: Self.pays, at: Self.now)
    #expect(other.outcome == "new" && other.clientResult == .granted)
  }

  @Test("STO-38 a grant cannot end the transaction, also where it hides that it tried")
  func endsTransaction() async throws {
    for statement in ["COMMIT", " end", "ROLLBACK", "BEGIN"] {
      let shop = try await shopOfCoins()
      let coins = try shop.coins()
      let misuse = try await refused {
        _ = try await shop.ledger.claim(
          [coins], account: "ann", grantMode: "transaction",
          grant: {
            let database = try #require($0.executor as? SQLiteExecutor)
            try database.execute("INSERT INTO coins VALUES ('a', 'ann', 1)")
            #expect(throws: SQLiteError.self) { try database.execute(statement) }
            #expect(throws: SQLiteError.self) { try database.execute("SELECT 1; SELECT 2") }
            #expect(throws: SQLiteError.self) { try database.execute("SELECT ?") }
            return true
          }, at: Self.now)
      }
      #expect(misuse.status == .misuseLedgerTransaction)
      #expect(misuse.result(ClaimResult.self)?.committed == false)
      #expect(try shop.rows("SELECT * FROM coins").isEmpty)
      let after = try await shop.ledger.claim([coins], account: "ann", at: Self.now)
      #expect(after.outcome == "new")
    }
  }

  // MARK: refunds

  @Test("a refund is taken back once, under a lease and in the transaction")
  func revokes() async throws {
    for mode in ["lease", "transaction"] {
      let shop = try await shopOfCoins()
      _ = try await shop.ledger.claim(
        [try shop.coins()], account: "ann", grantMode: mode, grant: { _ in true }, at: Self.now)
      let seen = Seen()
      let refund = try shop.coins(isRevoked: true)
      let takeBack: Taking = { take in
        #expect((take.executor == nil) == (mode == "lease") && take.take.account == "ann")
        await seen.grant(take.take.takeId, take.take.units)
        return .all
      }
      for (outcome, changed) in [(RevokeOutcome.wasGranted, true), (.already, false)] {
        let revoked = try await shop.ledger.revoke(
          [refund], grantMode: mode == "lease" ? nil : mode, takeBack: takeBack, at: Self.now)
        #expect(revoked.revocations.map(\.outcome) == [outcome] && revoked.changed == changed)
      }
      await #expect(seen.units == [3])
      let later = try await shop.ledger.claim([try shop.coins()], account: "ann", at: Self.now)
      #expect(later.status == .rejectedPurchaseRevoked && later.claim?.revokedAt != nil)
    }
  }

  @Test("a take-back for another time is handed out again; units that were gone are a debt")
  func takesLater() async throws {
    let shop = try await Shop()
    _ = try await shop.ledger.claim(
      [try shop.coins()], account: "ann", grant: { _ in true }, at: Self.now)
    let event = try await shop.ledger.applyEvent(
      [try shop.coins(isRevoked: true)], takeBack: { _ in .later }, at: Self.now)
    #expect(event.take.count == 1 && event.httpStatusForApple == 200)
    let due = try await shop.ledger.resumeExpiredRevocations(
      takeBack: { _ in .units(1) }, at: Self.now.advanced(by: .seconds(4000)))
    let take = try #require(due.takes.first)
    #expect(take.takeId == event.take.first?.takeId)
    let done = try await shop.ledger.completeRevocation(
      purchaseKey: take.purchaseKey, takeId: take.takeId, fencingToken: take.fencingToken, taken: 1,
      at: Self.now.advanced(by: .seconds(4000)))
    #expect(done.outcome == "already")
  }

  // MARK: subscriptions, counters, keys, accounts

  @Test("a subscription gives its plan until it ends, and is another account's for others")
  func plans() async throws {
    let shop = try await Shop()
    let premium = try shop.transaction()
    let none = try await shop.ledger.getPlan(account: "ann", at: Self.now)
    #expect(none.plan == "free" && none.expiresAt == nil && none.subscriptions.isEmpty)
    let applied = try await shop.ledger.updateSubscriptions([premium], account: "ann", at: Self.now)
    #expect(applied.plan == "premium" && applied.expiresAt == premium.expiresDate)
    #expect(applied.changed && applied.subscriptions.map(\.outcome) == [.applied])
    let read = try await shop.ledger.getPlan(account: "ann", at: Self.now)
    #expect(read.plan == "premium" && read.subscriptions.first?.isActive == true)
    let end = try #require(premium.expiresDate)
    let over = try await shop.ledger.getPlan(
      account: "ann", cachedPlan: read, at: end.advanced(by: .seconds(86_400 * 60)))
    #expect(over.plan == "free")
    let other = try await refused {
      _ = try await shop.ledger.updateSubscriptions([premium], account: "bob", at: Self.now)
    }
    #expect(other.status == .rejectedSubscriptionOtherAccount)
    #expect(other.result(UpdateSubscriptionsResult.self)?.plan == "free")
    #expect(other.result(ClaimResult.self) == nil)
    let cleared = try await shop.ledger.deactivateSubscriptions(account: "ann", at: Self.now)
    #expect(cleared.plan == "free" && cleared.deactivated == 1)
  }

  @Test("a quota lets so many through, and says more where it refuses")
  func quotas() async throws {
    let shop = try await Shop()
    let first = try await shop.ledger.consumeQuota(
      account: "ann", meter: "calls", plan: "free", at: Self.now)
    #expect(first.used == 1 && first.limit == 2 && first.left == 1)
    let ticket = try #require(first.ticket)
    _ = try await shop.ledger.consumeQuota(
      account: "ann", meter: "calls", plan: "free", at: Self.now)
    let over = try await refused {
      _ = try await shop.ledger.consumeQuota(
        account: "ann", meter: "calls", plan: "free", at: Self.now)
    }
    #expect(over.status == .rejectedQuotaExhausted && over.httpStatus == 429)
    let said = try #require(over.result(ConsumeQuotaResult.self))
    #expect(said.outcome == "exhausted" && said.left == 0 && !said.headers.isEmpty)
    let refund = try await shop.ledger.releaseQuota(ticket: ticket, at: Self.now)
    #expect(refund.outcome == "released" && refund.used == 1)
  }

  @Test("a challenge is used once, by whom it was made for")
  func challenges() async throws {
    let shop = try await Shop()
    let made = try await shop.ledger.issueChallenge(purpose: "attest", subject: "ann", at: Self.now)
    #expect(made.challenge.utf8.count == 43 && made.expiresAt > Self.now)
    let second = try await shop.ledger.issueChallenge(
      purpose: "attest", subject: "ann", at: Self.now)
    #expect(second.challenge != made.challenge)
    let used = try await shop.ledger.consumeChallenge(
      purpose: "attest", subject: "ann", challenge: made.challenge, usedBy: "one", at: Self.now)
    #expect(used.outcome == "consumed")
    let again = try await refused {
      _ = try await shop.ledger.consumeChallenge(
        purpose: "attest", subject: "ann", challenge: made.challenge, usedBy: "two", at: Self.now)
    }
    #expect(again.status == .rejectedChallengeUsed)
    #expect(again.result(ConsumeChallengeResult.self)?.outcome == "used")
  }

  @Test("an event happens once, an account is joined into another and forgotten")
  func accounts() async throws {
    let shop = try await Shop()
    for (outcome, status) in [("first", Status.ok), ("duplicate", .rejectedEventDuplicate)] {
      let found = try await shop.ledger.recordEvent(id: "NOTE#1", at: Self.now)
      #expect(found.outcome == outcome && found.status == status && found.storedAt == Self.now)
    }
    _ = try await shop.ledger.updateSubscriptions(
      [try shop.transaction()], account: "ann", at: Self.now)
    let joined = try await shop.ledger.mergeAccounts(account: "ann", into: "ben", at: Self.now)
    #expect(joined.outcome == "merged" && joined.moved?.subscriptions == 1)
    #expect(try await shop.ledger.getPlan(account: "ben", at: Self.now).plan == "premium")
    let forgotten = try await shop.ledger.forgetAccount(account: "ben", at: Self.now)
    #expect(forgotten.outcome == "forgotten" && forgotten.forgotten.subscriptions == 1)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: shop.path + "-wal"))
    #expect(bytes.isEmpty)
    try await shop.ledger.deleteExpiredRows(at: Self.now.advanced(by: .seconds(86_400 * 60)))
    #expect(try shop.rows("SELECT * FROM assay_event").isEmpty)
  }

  // MARK: the store itself

  @Test("tables are made once, and another store under the same name is found")
  func schema() async throws {
    let shop = try await Shop(hasTables: false)
    let away = try await refused {
      _ = try await shop.ledger.getPlan(account: "ann", at: Self.now)
    }
    #expect(away.status == .unavailableDatabaseStatementFailed)
    for outcome in ["created", "exists"] {
      let made = try await shop.ledger.createSchema(at: Self.now)
      #expect(made.outcome == outcome)
    }
    let checked = try await shop.ledger.checkSchema(at: Self.now)
    #expect(checked.primary && checked.tables.contains("purchase"))
    _ = try shop.rows("UPDATE assay_schema SET lineage = '\(String(repeating: "b", count: 32))'")
    let other = try await refused { _ = try await shop.ledger.checkSchema(at: Self.now) }
    #expect(other.status == .configLedgerLineage)
    #expect(throws: SQLiteError.self) { try Ledger(sqlite: "shop.db", shop.verifier) }
  }

  @Test("32 at once: one claim is new, and a limit of five lets five through")
  func races() async throws {
    let shop = try await Shop()
    let coins = try shop.coins()
    let outcomes = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      for number in 0..<32 {
        group.addTask {
          let claim = try await shop.ledger.claim(
            [coins], account: "ann\(number % 2)", at: Self.now)
          let took = try? await shop.ledger.consumeQuota(
            account: "ann", meter: "calls", plan: "premium", at: Self.now)
          return (claim.outcome, took != nil)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count(where: { $0.0 == "new" }) == 1)
    #expect(outcomes.count(where: \.1) == 5)
  }

  // MARK: stores that are away

  /// An executor with one reply to every step, which it counts.
  private final class Away: LedgerExecutor, @unchecked Sendable {
    private let answer: String?
    private(set) var rollBacks = 0
    private(set) var steps = 0

    /// Creates an executor.
    ///
    /// - Parameter answer: the reply, in which "ID" is replaced by the step's id; `nil` to throw.
    init(_ answer: String?) { self.answer = answer }

    func run(_ step: JSON) async throws -> JSON {
      steps += 1
      guard let answer else { throw Failure() }
      let read = try JSONSerialization.jsonObject(with: Data(step.text.utf8)) as? [String: Any]
      return JSON(text: answer.replacing("ID", with: "\(read?["id"] as? Int ?? 0)"))
    }

    func rollBack() async { rollBacks += 1 }
  }

  @Test("a store that is away fails closed, and its executor is left rolled back")
  func away() async throws {
    let verifier = try Self.verifier(["engine": "postgres", "requestMs": 600_000])
    let busy = #"{"id":ID,"code":500,"error":{"code":"40001","text":"","executed":"no"}}"#
    for (answer, status) in [
      (#"{"id":ID,"code":0}"#, Status.unavailableDatabaseOutcomeUnknown),
      (busy, .unavailableDatabaseContention),
      (#"{"id":ID,"code":200,"results":[{"rows":[["?"]]}]}"#, .unavailableDatabaseUnexpectedReply),
    ] {
      let store = Away(answer)
      let ledger = Ledger(verifier, engine: "postgres") { store }
      let refusal = try await refused {
        _ = try await ledger.consumeQuota(
          account: "ann", meter: "calls", plan: "free", at: Self.now)
      }
      #expect(refusal.status == status, "\(answer)")
      #expect(store.rollBacks == 1 && store.steps >= 1)
    }
    let impatient = Ledger(verifier, engine: "postgres", maxWait: .zero) { Away(busy) }
    let waits = try await refused { _ = try await impatient.getPlan(account: "ann", at: Self.now) }
    #expect(waits.family == .pending)
    let store = Away(nil)
    let ledger = Ledger(verifier, engine: "postgres") { store }
    await #expect(throws: Failure.self) { try await ledger.getPlan(account: "ann", at: Self.now) }
    #expect(store.rollBacks == 1 && store.steps == 1)
    let strange = Ledger(verifier, engine: "postgres") { Away("{}") }
    let misuse = try await refused { _ = try await strange.getPlan(account: "ann", at: Self.now) }
    #expect(misuse.family == .misuse)
    let unmade = Ledger(verifier, engine: "postgres") { throw Failure() }
    await #expect(throws: Failure.self) { try await unmade.getPlan(account: "ann", at: Self.now) }
  }

  @Test("a grant that stands where its completion did not come through is deferred")
  func awayAfterGrant() async throws {
    let shop = try await Shop()
    let coins = try shop.coins()
    let path = shop.path
    let claim = try await shop.ledger.claim(
      [coins], account: "ann",
      grant: { _ in
        _ = try SQLiteReader(path).rows("ALTER TABLE assay_purchase RENAME TO gone")
        return true
      }, at: Self.now)
    #expect(claim.status == .unavailableDatabaseStatementFailed && claim.clientResult == .deferred)
    #expect(claim.claim?.status == "unavailable.database.statement-failed")
  }
}
