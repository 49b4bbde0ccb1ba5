@_spi(AssaySwift) import Assay

/// The client of a store: carries out the steps of one exchange, and keeps one connection
/// for all of them (docs/spec/ledger.md, STO-75). `AssaySQLite` has one for SQLite.
public protocol LedgerExecutor: AnyObject {
  /// Carries a step out and returns its answer (STO-2, STO-3).
  ///
  /// After the host granted in a transaction it is given the step of the grant, which has
  /// `grantId` or `takeId` and no `run`: the answer says whether the transaction is still the
  /// one that was begun (STO-38). On DynamoDB that step is one TransactWriteItems: its `item`,
  /// then what the grant wrote.
  ///
  /// A failure of the engine is an answer, `code` 500 with `error`; `code` 0 says that nothing
  /// came back. What it throws ends the exchange and passes through.
  func run(_ step: JSON) async throws -> JSON

  /// Undoes what is not committed and gives the connection back. Called at the end of every
  /// exchange, also one that was left, and after a grant that gave nothing; a step may
  /// follow all the same, on a new connection.
  func rollBack() async

  /// Makes what the tables stand in, such as the file of SQLite; before `Ledger.createSchema`
  /// alone.
  func prepare() async throws

  /// Removes from logs of writes what an account left behind that was forgotten (STO-93).
  func forgotten() async
}

extension LedgerExecutor {
  /// Nothing to make.
  public func prepare() async throws {}
  /// No log of writes.
  public func forgotten() async {}
}

/// Pays a purchase out, once: writes `grantId` beside what it gives, under a unique index, and
/// nothing where it stands already. False: nothing was granted.
public typealias Granting = @Sendable (Grant) async throws -> Bool

/// Takes back what a refunded purchase gave, once: writes `takeId` beside what it takes.
public typealias Taking = @Sendable (TakeBack) async throws -> Taken

/// What became of a take-back.
public enum Taken: Hashable, Sendable {
  /// All units were taken.
  case all
  /// So many units were there to be taken; under a lease, the rest is noted as a debt.
  case units(Int64)
  /// Nothing was taken: it is handed out again.
  case later
}

/// A purchase to pay out now.
public struct Grant {
  /// The id under which the purchase is granted, once.
  public let grantId: String
  /// 1, then one more whenever a claim that nobody completed was taken over.
  public let fencingToken: Int64
  /// Who gets it.
  public let account: String
  /// The id of the product.
  public let product: String
  /// How many items were bought.
  public let quantity: Int64
  /// How many units to give; after a reversal, how many were taken back.
  public let units: Int64
  /// Whether the grant id was handed out before: perhaps it is written already.
  public let isRepeated: Bool
  /// The row of the ledger.
  public let purchaseKey: String
  /// In mode "transaction" the executor of the claim: what is written by it is committed with
  /// the claim, or not at all. Nil under a lease.
  public let executor: (any LedgerExecutor)?
}

/// Units of a refunded purchase to take back now.
public struct TakeBack {
  /// The units, and the id under which they are taken back, once.
  public let take: Take
  /// As of a `Grant`.
  public let executor: (any LedgerExecutor)?
}

/// What a store answers, in types. None of it is evidence.
public protocol LedgerResult: Sendable, CustomStringConvertible {
  /// The whole answer.
  var document: Document { get }
}

extension LedgerResult {
  /// `ok`; of `claim`, `resume`, `complete` and `recordEvent` also why they were refused.
  public var status: Status { document.status }
  /// What a back end would answer its own client.
  public var httpStatus: Int { status.httpStatus }
  /// "ClaimResult, ok": everything else is about a customer.
  public var description: String { "\(Self.self), \(status)" }
}

extension AssayError {
  /// What the refused exchange answered all the same: the headers of an exhausted quota,
  /// the default plan where the store is away, whether a subscription can be moved.
  ///
  ///     catch let refusal as AssayError {
  ///       let quota = refusal.result(ConsumeQuotaResult.self)
  ///     }
  public func result<Result: LedgerResult>(_ type: Result.Type = Result.self) -> Result? {
    guard let document, let known = type as? any AnswerOfStore.Type,
      let members = try? Members.of(document, "exchange")
    else { return nil }
    return try? known.init(members) as? Result
  }
}

/// Purchases granted once, subscriptions, quotas, challenges, keys and accounts in a store of
/// the host's (docs/ledger.md): a method for each kind of request, carried out to its end.
///
///     let ledger = Ledger(verifier, engine: "postgres") { try await PostgresExecutor(pool) }
///     let claim = try await ledger.claim([transaction], account: account) { grant in
///       try await shop.give(grant.units, of: grant.product, to: grant.account, grant.grantId)
///       return true
///     }
///
/// Methods throw an `AssayError`, but for refusals of the ledger's own in `claim`, `resume`,
/// `complete` and `recordEvent`, which are answers: look at `status` and `outcome`. What an
/// executor or a grant throws passes through, and nothing of a transaction is left.
///
/// An `attempt` stands for one request of a client: give it to repeat a request after your own
/// process lost the answer.
public struct Ledger: Sendable {
  /// Verifies the evidence.
  public let verifier: Verifier
  let engine: String
  let maxWait: Duration
  let open: @Sendable () async throws -> any LedgerExecutor
  let seen = Lineage()

  /// - Parameters:
  ///   - verifier: has the block `ledger` in its configuration.
  ///   - engine: "sqlite", "postgres", "mariadb", "dynamodb", "redis".
  ///   - maxWait: the longest wait before a step.
  ///   - open: an executor for one exchange, with or without a connection yet.
  public init(
    _ verifier: Verifier, engine: String, maxWait: Duration = .seconds(30),
    open: @escaping @Sendable () async throws -> any LedgerExecutor
  ) {
    self.verifier = verifier
    self.engine = engine
    self.maxWait = maxWait
    self.open = open
  }

  /// Deletes what has ended and kept texts that no row names; once a day.
  public func deleteExpiredRows(at now: Timestamp = .now) async throws {
    let document = try verifier.exchange(
      ["operation": "describe-schema", "engine": JSON(engine)], at: now
    ).document
    guard document.status == .ok else { throw AssayError(document) }
    let found = document.value?.member("exchange")?.member("garbage")?.children ?? []
    try await withExecutor { executor in
      for call in found {
        let step: JSON = [
          "id": 0, "engine": JSON(engine), "repeatable": true, "connection": "any",
          "transaction": nil, "calls": [JSON(text: call.value.json)],
        ]
        try await Ledger.insist(on: step, executor)
      }
    }
  }

  /// A busy row is no reason to wait for tomorrow: asks three times.
  private static func insist(on step: JSON, _ executor: any LedgerExecutor) async throws {
    for _ in 0..<3 {
      let answer = try await executor.run(step)
      let code = DocumentValue(json: Array(answer.text.utf8))?.member("code")?.integer
      if code == 200 { return }
    }
    throw AssayError.of(
      .unavailableDatabaseStatementFailed, "a store did not take a statement", at: nil)
  }
}
