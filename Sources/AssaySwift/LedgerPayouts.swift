@_spi(AssaySwift) import Assay

// Grants claims and take-backs of a lease, and completes each.

/// A result with claims to grant and complete.
protocol Claiming: AnswerOfStore {
  var toGrant: [Claim] { get set }
  /// Adds the results of the completions; `refused` is the first one that was refused.
  mutating func complete(_ refused: CompleteResult?)
}

/// A result with units to take back.
protocol Revoking: AnswerOfStore {
  var toTake: [Take] { get }
}

extension Ledger {
  func paying<Result: AnswerOfStore>(
    _ grant: Granting, _ request: LedgerRequest, _ found: inout Result
  ) async throws {
    guard var claiming = found as? any Claiming else { return }
    try await pay(grant, request, &claiming)
    if let claiming = claiming as? Result { found = claiming }
  }

  /// Grants and completes each claim in turn. A claim that was granted but could not be completed
  /// is `deferred`: the next attempt finds it.
  private func pay(
    _ grant: Granting, _ request: LedgerRequest, _ found: inout any Claiming
  ) async throws {
    var isAny = false
    var refused: CompleteResult?
    for (place, claim) in found.toGrant.enumerated()
    where claim.needsGrant && claim.clientResult == nil {
      guard let given = Grant(claim), try await grant(given) else { continue }
      isAny = true
      var claim = claim
      do {
        let request = LedgerRequest(
          "complete", isAnswer: true, at: request.clock,
          [
            ("purchaseKey", JSON(given.purchaseKey)), ("account", JSON(given.account)),
            ("grantId", JSON(given.grantId)), ("fencingToken", JSON(given.fencingToken)),
            ("note", request["note"]),
          ])
        let result: CompleteResult = try await answer(to: request, LedgerEffects())
        claim.clientResult = result.clientResult
        claim.grantedAt = result.grantedAt
        claim.revokedAt = result.revokedAt
        claim.changed = result.changed
        claim.status = result.status == .ok ? nil : "\(result.status)"
        if result.status != .ok, refused == nil { refused = result }
      } catch let away as AssayError where away.isAway {
        claim.clientResult = .deferred
        claim.status = "\(away.status)"
        if let document = away.document { found.document = document }
      }
      found.toGrant[place] = claim
    }
    if isAny { found.complete(refused) }
  }

  /// Takes back and completes each take in turn; in the mode "none" no completion is expected.
  func taking<Result: AnswerOfStore>(
    _ takeBack: Taking, _ request: LedgerRequest, _ found: inout Result
  ) async throws {
    for take in (found as? any Revoking)?.toTake ?? [] {
      let said = try await takeBack(TakeBack(take: take, executor: nil))
      guard said != .later, request["grantMode"] != "none" else { continue }
      var taken: Int64?
      if case .units(let units) = said { taken = units }
      do {
        _ = try await completeRevocation(
          purchaseKey: take.purchaseKey, takeId: take.takeId, fencingToken: take.fencingToken,
          taken: taken, at: request.clock)
      } catch let refusal as AssayError where refusal.isAway {
        if let document = refusal.document { found.document = document }
      } catch let refusal as AssayError where refusal.family == .rejected {
        // A newer state is stored, which is handed out by itself.
      }
    }
  }
}

extension ClaimResult: Claiming {
  var toGrant: [Claim] {
    get { claims }
    set { claims = newValue }
  }

  /// The claim that `outcome` is about: the first one to grant, else that of the newest purchase.
  public var claim: Claim? { claims.first(where: \.needsGrant) ?? claims.last }

  mutating func complete(_ refused: CompleteResult?) {
    changed = claims.contains(where: \.changed)
    clientResult = claim?.clientResult
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
    clientResult = claims.first?.clientResult
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

  /// The HTTP status for Apple: 200, or 503, after which Apple sends the notification again. For a
  /// thrown `AssayError` respond with 503.
  public var httpStatusForApple: Int { status == .ok ? 200 : 503 }
}

extension RevokeResult: Revoking {
  var toTake: [Take] { revocations.compactMap(\.take) }
}

extension ResumeExpiredRevocationsResult: Revoking {
  var toTake: [Take] { takes }
}

extension Claim {
  /// Whether to grant the claim now, or whether the transaction of this claim granted it.
  public var needsGrant: Bool { outcome == .new || outcome == .resume }
}

extension Grant {
  /// Reads the grant of a grant step.
  init(_ step: Members, _ executor: any LedgerExecutor) throws(AssayError) {
    grantId = try step.needed(step.text("grantId"), "grantId")
    fencingToken = try step.needed(step.integer("fencingToken"), "fencingToken")
    account = try step.needed(step.text("account"), "account")
    product = try step.needed(step.text("product"), "product")
    quantity = try step.needed(step.integer("quantity"), "quantity")
    units = step.integer("units") ?? quantity
    isRepeated = step.boolean("repeat") ?? false
    purchaseKey = try step.needed(step.text("purchaseKey"), "purchaseKey")
    self.executor = executor
  }

  /// Returns the grant of a claim; `nil` if there is nothing to grant.
  public init?(_ claim: Claim) {
    guard claim.needsGrant, let grantId = claim.grantId, let fencingToken = claim.fencingToken,
      let account = claim.account, let purchaseKey = claim.purchaseKey
    else { return nil }
    self.grantId = grantId
    self.fencingToken = fencingToken
    self.account = account
    self.purchaseKey = purchaseKey
    product = claim.product
    quantity = claim.quantity
    units = claim.units ?? claim.quantity
    isRepeated = claim.repeat ?? false
    executor = nil
  }
}

extension AssayError {
  /// Whether the database did not reply, or too late.
  fileprivate var isAway: Bool { family == .unavailable || family == .pending }
}
