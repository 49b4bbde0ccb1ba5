@_spi(AssaySwift) import Assay

/// The client of a store: carries out the steps of one conversation, and keeps one connection
/// for all of them (docs/spec/stores.md, STO-75). `AssaySQLite` has one for SQLite.
public protocol LedgerExecutor: AnyObject {
  /// Carries a step out and returns its answer (STO-2, STO-3).
  ///
  /// After the host granted in a transaction it is given the step of the grant, which has
  /// `grantId` or `takeId` and no `run`: the answer says whether the transaction is still the
  /// one that was begun (STO-38). On DynamoDB that step is one TransactWriteItems: its `item`,
  /// then what the grant wrote.
  ///
  /// A failure of the engine is an answer, `code` 500 with `error`; `code` 0 says that nothing
  /// came back. What it throws ends the conversation and passes through.
  func run(_ step: JSON) async throws -> JSON

  /// Undoes what is not committed and gives the connection back. Called at the end of every
  /// conversation, also one that was left, and after a grant that gave nothing; a step may
  /// follow all the same, on a new connection.
  func rollBack() async

  /// Makes what the tables stand in, such as the file of SQLite; before `Ledger.createSchema`
  /// alone.
  func prepare() async throws

  /// Removes from logs of writes what an account left behind that was forgotten (STO-93).
  func forgotten() async
}

extension LedgerExecutor {
  public func prepare() async throws {}
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
  public let fence: Int64
  public let account: String
  public let product: String
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
  /// `ok`; of `claim`, `resume`, `complete` and `once` also why they were refused.
  public var status: Status { document.status }
  /// What a back end would answer its own client.
  public var httpStatus: Int { status.httpStatus }
  /// "ClaimResult, ok": everything else is about a customer.
  public var description: String { "\(Self.self), \(status)" }
}

extension Refusal {
  /// What the refused conversation answered all the same: the headers of an exhausted quota,
  /// the default plan where the store is away, whether a subscription can be moved.
  ///
  ///     catch let refusal as Refusal {
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
/// the host's (docs/stores.md): a method for each kind of request, carried out to its end.
///
///     let ledger = Ledger(verifier, dialect: "postgres") { try await PostgresExecutor(pool) }
///     let claim = try await ledger.claim([transaction], account: account) { grant in
///       try await shop.give(grant.units, of: grant.product, to: grant.account, grant.grantId)
///       return true
///     }
///
/// Methods throw a `Refusal`, but for refusals of the ledger's own in `claim`, `resume`,
/// `complete` and `once`, which are answers: look at `status` and `outcome`. What an executor or
/// a grant throws passes through, and nothing of a transaction is left.
///
/// An `attempt` stands for one request of a client: give it to repeat a request after your own
/// process lost the answer.
public struct Ledger: Sendable {
  /// Verifies the evidence.
  public let verifier: Verifier
  let dialect: String
  let patience: Duration
  let open: @Sendable () async throws -> any LedgerExecutor
  let seen = Lineage()

  /// - Parameters:
  ///   - verifier: has the block `stores` in its configuration.
  ///   - dialect: "sqlite", "postgres", "mysql", "dynamodb", "redis".
  ///   - patience: the longest wait before a step.
  ///   - open: an executor for one conversation, with or without a connection yet.
  public init(
    _ verifier: Verifier, dialect: String, patience: Duration = .seconds(30),
    open: @escaping @Sendable () async throws -> any LedgerExecutor
  ) {
    self.verifier = verifier
    self.dialect = dialect
    self.patience = patience
    self.open = open
  }

  /// Deletes what has ended and kept texts that no row names; once a day.
  public func deleteExpired(at now: Timestamp = .now) async throws {
    let document = try verifier.exchange(
      ["kind": "schema", "dialect": JSON(dialect)], at: now
    ).document
    guard document.status == .ok else { throw Refusal(document) }
    let found = document.value?.member("exchange")?.member("garbage")?.children ?? []
    try await withExecutor { executor in
      for call in found {
        let step: JSON = [
          "id": 0, "dialect": JSON(dialect), "class": "idempotent", "connection": "any",
          "transaction": nil, "run": [JSON(text: call.value.json)],
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
    throw Refusal.of(.unavailableStoreEngine, "a store did not take a statement", at: nil)
  }
}

/// The store that a ledger saw first (STO-78).
actor Lineage {
  private var first: String?

  func saw(_ lineage: String?) -> String? {
    if first == nil { first = lineage }
    return first
  }
}

/// What a store answered, before it is read.
protocol AnswerOfStore: LedgerResult, FactsObject {
  var document: Document { get set }
}

/// One request of a ledger.
struct LedgerRequest {
  let kind: String
  let evidence: [any Facts]
  /// Whether a refusal of the ledger's own is an answer.
  let isAnswer: Bool
  let now: Timestamp
  private let begun = ContinuousClock.now
  var members: [(String, JSON?)]

  init(
    _ kind: String, evidence: [any Facts] = [], isAnswer: Bool = false, at now: Timestamp,
    _ members: [(String, JSON?)] = []
  ) {
    self.kind = kind
    self.evidence = evidence
    self.isAnswer = isAnswer
    self.now = now
    self.members = members
  }

  /// The time of the conversation, which goes on from that of the call.
  var clock: Timestamp { now.advanced(by: begun.duration(to: .now)) }

  func text(_ dialect: String) -> JSON {
    .given([("kind", JSON(kind)), ("dialect", JSON(dialect))] + members)
  }

  subscript(_ name: String) -> JSON? { members.first { $0.0 == name }?.1 }
}

/// What a host does in a conversation.
struct LedgerEffects {
  var grant: Granting?
  var takeBack: Taking?
  var prepares = false
  var forgets = false
}

// MARK: conversing

extension Ledger {
  /// A whole conversation; then what was claimed under a lease is granted and completed.
  func asking<Result: AnswerOfStore>(
    _ request: LedgerRequest, grant: Granting? = nil, takeBack: Taking? = nil
  ) async throws -> Result {
    let isEvent = request.kind == "event.apply"
    guard request["mode"] == "transaction" else {
      var found: Result = try await answer(to: request, LedgerEffects())
      if let takeBack { try await taking(takeBack, request, &found) }
      if let grant { try await paying(grant, request, &found) }
      return found
    }
    guard grant != nil || request.kind == "revoke", takeBack != nil || request.kind == "claim"
    else {
      throw Refusal.of(
        .misuseExchangeRequest,
        "mode \"transaction\" needs \(isEvent ? "a grant and a take-back" : "its closure")",
        at: "mode")
    }
    return try await answer(to: request, LedgerEffects(grant: grant, takeBack: takeBack))
  }

  func creating(_ request: LedgerRequest) async throws -> CreateSchemaResult {
    try await answer(to: request, LedgerEffects(prepares: true))
  }

  func forgetting(_ request: LedgerRequest) async throws -> ForgetAccountResult {
    try await answer(to: request, LedgerEffects(forgets: true))
  }

  /// Another store than the one that this ledger saw first is refused.
  func checking(_ request: LedgerRequest) async throws -> CheckSchemaResult {
    var request = request
    request.members.append(("lineage", await seen.saw(nil).map { JSON($0) }))
    let found: CheckSchemaResult = try await answer(to: request, LedgerEffects())
    _ = await seen.saw(found.lineage)
    return found
  }

  private func answer<Result: AnswerOfStore>(
    to request: LedgerRequest, _ effects: LedgerEffects
  ) async throws -> Result {
    let document = try await converse(request, effects)
    guard document.status == .ok || request.isAnswer && document.isOwnRefusal else {
      throw Refusal(document)
    }
    return try Result(try Members.of(document, "exchange"))
  }

  /// Conducts a conversation to its end, or to a wait that is longer than the patience.
  private func converse(
    _ request: LedgerRequest, _ effects: LedgerEffects
  ) async throws -> Document {
    let exchange = try verifier.exchange(
      request.text(dialect), evidence: request.evidence, at: request.now)
    guard !exchange.isDone else { return exchange.document }
    try await withExecutor { executor in
      if effects.prepares { try await executor.prepare() }
      while !exchange.isDone {
        guard let answer = try await answer(to: exchange, request, effects, executor) else {
          return
        }
        try exchange.step(answer, at: request.clock)
      }
      if effects.forgets, exchange.document.status == .ok { await executor.forgotten() }
    }
    return exchange.document
  }

  /// However it ends, nothing stays open.
  private func withExecutor(
    _ body: (any LedgerExecutor) async throws -> Void
  ) async throws {
    let executor = try await open()
    do {
      try await body(executor)
    } catch {
      await executor.rollBack()
      throw error
    }
    await executor.rollBack()
  }

  /// Carries out what the conversation asks for; nil: the wait is too long.
  private func answer(
    to exchange: Exchange, _ request: LedgerRequest, _ effects: LedgerEffects,
    _ executor: any LedgerExecutor
  ) async throws -> JSON? {
    let document = exchange.document
    switch exchange.state {
    case "store":
      return try await executor.run(try Members.of(document, "exchange", "store").text)
    case "grant":
      let step = try Members.of(document, "exchange", "grant")
      if try await grants(step, effects, executor) {
        return try await executor.run(step.text)
      }
      await executor.rollBack()
      let id = try step.needed(step.integer("id"), "grant.id")
      return ["id": JSON(id), "code": 500]
    case "wait":
      let asked = try Members.of(document, "exchange")
      let end = try asked.needed(asked.time("notBeforeMs"), "notBeforeMs")
      let now = request.clock
      // DynamoDB takes half a minute to make a table.
      let patience = effects.prepares ? max(patience, .seconds(60)) : patience
      if end > now.advanced(by: patience) { return nil }
      if end > now {
        let (left, isOver) = end.milliseconds.subtractingReportingOverflow(now.milliseconds)
        try await Task.sleep(for: isOver ? patience : .milliseconds(left))
      }
      return [:]
    default: throw Refusal.unreadable(document, at: "state")
    }
  }

  /// Has the host grant in the open transaction.
  private func grants(
    _ step: Members, _ effects: LedgerEffects, _ executor: any LedgerExecutor
  ) async throws -> Bool {
    if step.text("what") == "take" {
      guard let takeBack = effects.takeBack else { throw Refusal.unreadable(step.document) }
      return try await takeBack(TakeBack(take: try Take(step), executor: executor)) != .later
    }
    guard let grant = effects.grant else { throw Refusal.unreadable(step.document) }
    return try await grant(try Grant(step, executor))
  }

  /// So many random bytes, base64url.
  static func made(_ count: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var left = count &* 8
    while left > 0 {
      // The last letter has the bits that are left.
      let random = UInt8.random(in: 0..<64)
      let bits = left < 6 ? random & (0x3f << UInt8(truncatingIfNeeded: 6 &- left)) : random
      text.append(alphabet[Int(bits & 0x3f)])
      left &-= 6
    }
    return text
  }
}

// MARK: under a lease

/// A result with claims to grant and complete.
protocol Claiming: AnswerOfStore {
  var toGrant: [Claim] { get set }
  /// Takes over what the completions brought; `refused` is that of one that was refused.
  mutating func complete(_ refused: CompleteResult?)
}

/// A result with units to take back.
protocol Revoking: AnswerOfStore {
  var toTake: [Take] { get }
}

extension Ledger {
  private func paying<Result: AnswerOfStore>(
    _ grant: Granting, _ request: LedgerRequest, _ found: inout Result
  ) async throws {
    guard var claiming = found as? any Claiming else { return }
    try await pay(grant, request, &claiming)
    if let claiming = claiming as? Result { found = claiming }
  }

  /// Grants and completes, one after the other. What was granted and could not be completed is
  /// `deferred`: the next attempt finds it.
  private func pay(
    _ grant: Granting, _ request: LedgerRequest, _ found: inout any Claiming
  ) async throws {
    var isAny = false
    var refused: CompleteResult?
    for (place, claim) in found.toGrant.enumerated() where claim.isOurs && claim.answer == nil {
      guard let given = Grant(claim), try await grant(given) else { continue }
      isAny = true
      var claim = claim
      do {
        let request = LedgerRequest(
          "complete", isAnswer: true, at: request.clock,
          [
            ("purchaseKey", JSON(given.purchaseKey)), ("account", JSON(given.account)),
            ("grantId", JSON(given.grantId)), ("fence", JSON(given.fence)),
            ("note", request["note"]),
          ])
        let result: CompleteResult = try await answer(to: request, LedgerEffects())
        claim.answer = result.answer
        claim.granted = result.granted
        claim.revoked = result.revoked
        claim.changed = result.changed
        claim.status = result.status == .ok ? nil : "\(result.status)"
        if result.status != .ok, refused == nil { refused = result }
      } catch let away as Refusal where away.isAway {
        claim.answer = .deferred
        claim.status = "\(away.status)"
        if let document = away.document { found.document = document }
      }
      found.toGrant[place] = claim
    }
    if isAny { found.complete(refused) }
  }

  /// Takes back and completes, one after the other; under the mode "none" nobody waits for it.
  private func taking<Result: AnswerOfStore>(
    _ takeBack: Taking, _ request: LedgerRequest, _ found: inout Result
  ) async throws {
    for take in (found as? any Revoking)?.toTake ?? [] {
      let said = try await takeBack(TakeBack(take: take, executor: nil))
      guard said != .later, request["mode"] != "none" else { continue }
      var taken: Int64?
      if case .units(let units) = said { taken = units }
      do {
        _ = try await completeRevoke(
          purchaseKey: take.purchaseKey, takeId: take.takeId, fence: take.fence, taken: taken,
          at: request.clock)
      } catch let refusal as Refusal where refusal.isAway {
        if let document = refusal.document { found.document = document }
      } catch let refusal as Refusal where refusal.family == .rejected {
        // Something newer is stored: it is handed out for itself.
      }
    }
  }
}

extension ClaimResult: Claiming {
  var toGrant: [Claim] {
    get { claims }
    set { claims = newValue }
  }

  /// The one that `outcome` is about: the first of ours, else the newest purchase.
  public var claim: Claim? { claims.first(where: \.isOurs) ?? claims.last }

  mutating func complete(_ refused: CompleteResult?) {
    changed = claims.contains(where: \.changed)
    answer = claim?.answer
    guard let refused else { return }
    document = refused.document
    outcome = refused.outcome
  }
}

extension ResumeResult: Claiming {
  var toGrant: [Claim] {
    get { claims }
    set { claims = newValue }
  }

  mutating func complete(_ refused: CompleteResult?) {
    answer = claims.first?.answer
    guard let refused else { return }
    document = refused.document
    outcome = refused.outcome
  }
}

extension ResumeExpiredResult: Claiming {
  var toGrant: [Claim] {
    get { claims }
    set { claims = newValue }
  }

  mutating func complete(_ refused: CompleteResult?) {}
}

extension ApplyEventResult: Claiming, Revoking {
  var toGrant: [Claim] {
    get { give }
    set { give = newValue }
  }
  var toTake: [Take] { take }

  mutating func complete(_ refused: CompleteResult?) {}

  /// What Apple is answered: 200, or 503, and then it sends the notification again. Of every
  /// `Refusal` that is thrown it is 503.
  public var httpStatusForApple: Int { status == .ok ? 200 : 503 }
}

extension RevokeResult: Revoking {
  var toTake: [Take] { revocations.compactMap(\.take) }
}

extension ResumeExpiredRevocationsResult: Revoking {
  var toTake: [Take] { takes }
}

extension Claim {
  /// Whether it is to be granted now, or was, in the transaction of this claim.
  public var isOurs: Bool { outcome == .new || outcome == .resume }
}

extension Grant {
  /// Of a grant step.
  init(_ step: Members, _ executor: any LedgerExecutor) throws(Refusal) {
    grantId = try step.needed(step.text("grantId"), "grantId")
    fence = try step.needed(step.integer("fence"), "fence")
    account = try step.needed(step.text("account"), "account")
    product = try step.needed(step.text("product"), "product")
    quantity = try step.needed(step.integer("quantity"), "quantity")
    units = step.integer("units") ?? quantity
    isRepeated = step.boolean("repeat") ?? false
    purchaseKey = try step.needed(step.text("purchaseKey"), "purchaseKey")
    self.executor = executor
  }

  /// What to grant of a claim: nil where there is nothing.
  public init?(_ claim: Claim) {
    guard claim.isOurs, let grantId = claim.grantId, let fence = claim.fence,
      let account = claim.account, let purchaseKey = claim.purchaseKey
    else { return nil }
    self.grantId = grantId
    self.fence = fence
    self.account = account
    self.purchaseKey = purchaseKey
    product = claim.product
    quantity = claim.quantity
    units = claim.units ?? claim.quantity
    isRepeated = claim.repeat ?? false
    executor = nil
  }
}

// MARK: small parts

extension GetPlanResult {
  /// What `subscription.read` takes of an earlier answer.
  var kept: JSON {
    .given([
      ("plan", JSON(plan)), ("until", until.map { JSON($0.milliseconds) }),
      ("atMs", at.map { JSON($0.milliseconds) }),
    ])
  }
}

extension JSON {
  init(milliseconds duration: Duration) {
    self.init(Timestamp(milliseconds: 0).advanced(by: duration).milliseconds)
  }
}

extension Members {
  /// The object as it was written.
  var text: JSON { JSON(text: value.json) }
}

extension Document {
  /// Whether the ledger refused, and said what the purchase is.
  fileprivate var isOwnRefusal: Bool {
    guard status.family == .rejected || "\(status)".hasPrefix("unavailable.ledger.") else {
      return false
    }
    return value?.member("exchange")?.member("outcome")?.text != nil
  }
}

extension Refusal {
  /// Whether the store gave no answer, or too late.
  fileprivate var isAway: Bool { family == .unavailable || family == .pending }
}
