/// The evaluation of a purchase's row for a claim, by the table of outcomes (docs/spec/ledger.md
/// §5.1).
struct ClaimEvaluation {
  private enum Evaluation {
    case stands(Claim)
    /// The row as another process has changed it meanwhile.
    case changed(LedgerRow)
  }

  /// The number of evaluations of a row that other processes change at the same time.
  private static let rounds = 3

  let request: ClaimRequest
  /// The purchase of the evidence; `nil` if the request has no evidence, because the row was made
  /// from verified evidence (STO-30).
  let purchase: LedgerPurchase?
  let database: any DurableDatabase

  private var nowMs: Int64 { database.session.context.nowMs }

  /// Returns the claim of the row that was read, and takes it over or reverses it where the table
  /// of outcomes demands this.
  func claim(_ row: LedgerRow) throws(LedgerSuspension) -> Claim {
    var row = row
    for _ in 0..<Self.rounds {
      switch try evaluate(row) {
      case .stands(let claim): return claim
      case .changed(let now): row = now
      }
    }
    return overtaken(row, for: request.account ?? row.owner)
  }

  private func evaluate(_ row: LedgerRow) throws(LedgerSuspension) -> Evaluation {
    guard let account = request.account ?? (row.owner.isEmpty ? nil : row.owner) else {
      return .stands(Claim(row, row.state == .revoked ? .revoked : .unclaimed))
    }
    switch row.state {
    case .granted:
      let outcome: ClaimOutcome = row.owner == account ? .alreadyGranted : .otherAccount
      return try stays(row, outcome)
    case .claimed:
      if row.owner.isEmpty, let purchase, !request.isOwnedByOther {
        return try ours(try adopt(row, account, purchase), .new)
      }
      guard row.owner == account else {
        return try stays(row, request.refused(row))
      }
      return try evaluateClaimed(row)
    case .revoked:
      guard let purchase, let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else {
        return .stands(Claim(row, .revoked))
      }
      // Effects follow states in their order: a reversal waits for the pending take-back (STO-35).
      guard !row.isTakeBackPending else { return .stands(Claim(row, .inProgress)) }
      guard row.owner == account || row.owner.isEmpty && !request.isOwnedByOther else {
        return .stands(Claim(row, request.refused(row)))
      }
      return try reopen(row, account, purchase)
    }
  }

  private func evaluateClaimed(_ row: LedgerRow) throws(LedgerSuspension) -> Evaluation {
    if row.attemptId == request.attemptId {
      if let purchase, row.evidence != purchase.evidence.sha256 {
        var claim = Claim(row, .inProgress)
        claim.reason = Refusal(.unavailableClaimAttemptId, "STO-28", at: "attemptId")
        return .stands(claim)
      }
      guard row.repeats <= request.repeatsCap else { return .stands(handedOut(row)) }
      let outcome: ClaimOutcome = row.fencingToken == 1 && row.generation == 0 ? .new : .resume
      return try ours(try database.handOut(row, request), outcome)
    }
    guard row.leaseMs <= nowMs else { return try stays(row, .inProgress) }
    guard !request.holdsExpiredLease else { return try stays(row, .held) }
    guard row.repeats <= request.repeatsCap else { return .stands(handedOut(row)) }
    return try ours(try database.takeOver(row, request, purchase), .resume)
  }

  /// Returns the claim if this attempt holds the row after a change; another process may have been
  /// faster.
  private func ours(
    _ row: LedgerRow?, _ outcome: ClaimOutcome
  ) throws(LedgerSuspension) -> Evaluation {
    guard let row else { throw .rowMissing }
    guard row.isClaimed(by: request) else { return .changed(row) }
    var claim = Claim(row, outcome)
    claim.isRepeated = row.isRepeated(by: request)
    return .stands(claim)
  }

  /// Returns a claim that is held because the host may have granted under its lease (STO-37).
  private func handedOut(_ row: LedgerRow) -> Claim {
    var claim = Claim(row, .held)
    claim.isHandedOut = true
    return claim
  }

  /// Leaves state and owner of the row, but stores how new the evidence is (STO-33).
  private func stays(
    _ row: LedgerRow, _ outcome: ClaimOutcome
  ) throws(LedgerSuspension) -> Evaluation {
    let raised = try raised(row)
    let isSame = raised.state == row.state && raised.owner == row.owner
    return isSame ? .stands(Claim(raised, outcome)) : .changed(raised)
  }

  /// Stores how new the evidence is in a row that is not revoked (STO-33).
  func raised(_ row: LedgerRow) throws(LedgerSuspension) -> LedgerRow {
    guard let purchase, let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else { return row }
    return try database.raise(row, purchase.evidence, toMs: toldMs)
  }

  /// Returns the outcome after other processes have changed the row first each time.
  private func overtaken(_ row: LedgerRow, for account: Text) -> Claim {
    switch row.state {
    case .revoked: return Claim(row, .revoked)
    case .granted: return Claim(row, row.owner == account ? .alreadyGranted : .otherAccount)
    case .claimed: return Claim(row, row.owner == account ? .inProgress : .otherAccount)
    }
  }

  private func adopt(
    _ row: LedgerRow, _ account: Text, _ purchase: LedgerPurchase
  ) throws(LedgerSuspension) -> LedgerRow? {
    var next = row
    next.owner = account
    next.attemptId = request.attemptId
    next.fencingToken = 1
    next.repeats = request.handsOut ? 1 : 0
    next.leaseMs = request.leaseExpiresAtMs
    next.claimedAtMs = nowMs
    next.product = purchase.product?.id ?? row.product
    next.quantity = purchase.quantity
    next.units = purchase.units
    next.evidence = purchase.evidence.sha256
    next.asOfMs = max(row.asOfMs, purchase.stateToldMs ?? 0)
    return try database.adopt(next, over: row, purchase.evidence)
  }

  /// Claims a row again after Apple reversed its refund (RFD-2).
  private func reopen(
    _ row: LedgerRow, _ account: Text, _ purchase: LedgerPurchase
  ) throws(LedgerSuspension) -> Evaluation {
    var next = row
    // Units that were not taken back are not given again (STO-36).
    next.state = row.unitsToGive > 0 ? .claimed : .granted
    next.grantedAtMs = row.unitsToGive > 0 ? nil : nowMs
    next.owner = account
    next.generation = row.generation &+ 1
    next.grantId = LedgerRow.grantId(row.purchaseKey, generation: next.generation)
    next.attemptId = request.attemptId
    next.fencingToken = row.fencingToken &+ 1
    next.leaseMs = request.leaseExpiresAtMs
    next.claimedAtMs = nowMs
    next.asOfMs = purchase.facts.asOfMs
    next.evidence = purchase.evidence.sha256
    next.revokedAtMs = nil
    next.revokedShare = nil
    next.repeats = request.handsOut ? 1 : 0
    return try ours(try database.reverse(next, purchase.evidence), .resume)
  }
}

extension LedgerRow {
  fileprivate func isClaimed(by request: ClaimRequest) -> Bool {
    state == .claimed && attemptId == request.attemptId
  }

  /// Whether the grant id was handed to a host before `request` received it (STO-37).
  func isRepeated(by request: ClaimRequest) -> Bool { repeats > (request.handsOut ? 1 : 0) }
}

extension LedgerSuspension {
  /// The refusal for a row that must exist and was not found.
  static var rowMissing: LedgerSuspension {
    .refused(Refusal(.unavailableDatabaseRowMissing, "STO-4", at: "rows"))
  }
}
