@_spi(AssaySwift) import Assay

/// The client of a database: performs the steps of one exchange, all of them on one connection
/// (docs/spec/ledger.md, STO-75). `AssaySQLite` contains one for SQLite.
public protocol LedgerExecutor: AnyObject {
  /// Performs a step and returns its reply (STO-2, STO-3).
  ///
  /// After the host granted in a transaction, the executor receives the grant step, which has
  /// `grantId` or `takeId` and no `calls`. The reply states whether the transaction is still the
  /// one that was begun (STO-38). On DynamoDB the step is one TransactWriteItems: its `item`,
  /// then what the grant wrote.
  ///
  /// A failure of the engine is a reply, `code` 500 with `error`; `code` 0 means that nothing
  /// came back. An error that this method throws ends the exchange and passes through.
  func run(_ step: JSON) async throws -> JSON

  /// Undoes what is not committed and returns the connection to its pool. Called at the end of
  /// every exchange, also of an abandoned one, and after a grant that gave nothing; a further step
  /// may follow, on a new connection.
  func rollBack() async

  /// Creates what the tables need, such as the file of SQLite. Called before `Ledger.createSchema`
  /// only.
  func prepare() async throws

  /// Removes the data of a forgotten account from write-ahead logs (STO-93).
  func forgotten() async
}

extension LedgerExecutor {
  /// Does nothing, because most databases need no preparation.
  public func prepare() async throws {}
  /// Does nothing, because most clients cannot truncate a write-ahead log.
  public func forgotten() async {}
}

/// Grants a purchase once: writes `grantId` beside what it grants, under a unique index, and
/// nothing if it is stored already. Returns false if nothing was granted.
public typealias Granting = @Sendable (Grant) async throws -> Bool

/// Takes back the content of a refunded purchase once: writes `takeId` beside what it takes.
public typealias Taking = @Sendable (TakeBack) async throws -> Taken

/// The result of a take-back.
public enum Taken: Hashable, Sendable {
  /// All units were taken.
  case all
  /// Only this many units could be taken; under a lease, the rest is stored as a debt.
  case units(Int64)
  /// Nothing was taken: the take-back is handed out again later.
  case later
}

/// A purchase to grant now.
public struct Grant {
  /// The id under which the purchase is granted, once.
  public let grantId: String
  /// The fencing token: 1, and one more whenever an uncompleted claim was taken over.
  public let fencingToken: Int64
  /// The account that receives the purchase.
  public let account: String
  /// The id of the product.
  public let product: String
  /// The number of items that were bought.
  public let quantity: Int64
  /// The number of units to grant; after a reversal, the number that was taken back.
  public let units: Int64
  /// Whether the grant id was handed out before, so that it may be stored already.
  public let isRepeated: Bool
  /// The key of the purchase's ledger row.
  public let purchaseKey: String
  /// The executor of the claim in mode "transaction": what is written through it is committed with
  /// the claim, or not at all; `nil` under a lease.
  public let executor: (any LedgerExecutor)?
}

/// Units of a refunded purchase to take back now.
public struct TakeBack {
  /// The units, and the id under which they are taken back, once.
  public let take: Take
  /// The executor in mode "transaction", as in a `Grant`; `nil` under a lease.
  public let executor: (any LedgerExecutor)?
}

/// The typed result of a ledger operation. No result is evidence.
public protocol LedgerResult: Sendable, CustomStringConvertible {
  /// The whole document.
  var document: Document { get }
}

extension LedgerResult {
  /// The status: `ok`, or for `claim`, `resume`, `complete` and `recordEvent` also their refusal.
  public var status: Status { document.status }
  /// The HTTP status for a server's response to its own client.
  public var httpStatus: Int { status.httpStatus }
  /// The type and the status, "ClaimResult, ok". A log needs no more, and the rest is about a
  /// customer.
  public var description: String { "\(Self.self), \(status)" }
}

extension AssayError {
  /// Returns the result that a refused exchange has all the same: the headers of an exhausted
  /// quota, the default plan if the database is unreachable, whether a subscription can be
  /// transferred; `nil` if it has none of that type.
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

/// Purchases granted once, subscriptions, quotas, challenges, device keys and accounts in the
/// host's database (docs/ledger.md): a method for each operation, which runs it to its end.
///
///     let ledger = Ledger(verifier, engine: "postgres") { try await PostgresExecutor(pool) }
///     let claim = try await ledger.claim([transaction], account: account) { grant in
///       try await shop.give(grant.units, of: grant.product, to: grant.account, grant.grantId)
///       return true
///     }
///
/// Methods throw an `AssayError`, except for the ledger's own refusals in `claim`, `resume`,
/// `complete` and `recordEvent`, which are results: check `status` and `outcome`. What an
/// executor or a grant throws passes through, and the transaction is rolled back.
///
/// An `attemptId` identifies one request of a client: pass it to repeat a request after your
/// own process lost the result.
public struct Ledger: Sendable {
  /// Sends the request of an HTTP step and returns the reply.
  public typealias Sending = @Sendable (JSON) async throws -> JSON

  /// The verifier of the evidence.
  public let verifier: Verifier
  let engine: String
  let maxWait: Duration
  let open: @Sendable () async throws -> any LedgerExecutor
  let send: Sending?
  let seen = Lineage()

  /// Creates a ledger for one database.
  ///
  /// - Parameters:
  ///   - verifier: a verifier whose configuration has the block `ledger`.
  ///   - engine: "sqlite", "postgres", "mariadb", "dynamodb" or "redis".
  ///   - maxWait: the longest wait before a step.
  ///   - send: sends an HTTP request of `reconcile` and returns the reply (docs/exchanges.md);
  ///     `nil`: `reconcile` is an error.
  ///   - open: returns an executor for one exchange, which may connect later.
  public init(
    _ verifier: Verifier, engine: String, maxWait: Duration = .seconds(30),
    send: Sending? = nil,
    open: @escaping @Sendable () async throws -> any LedgerExecutor
  ) {
    self.verifier = verifier
    self.engine = engine
    self.maxWait = maxWait
    self.send = send
    self.open = open
  }

  /// Deletes expired rows, and stored evidence that no row names. Call it once a day.
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

  /// Runs a step up to three times, because a busy row is no reason to wait until the next day.
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
