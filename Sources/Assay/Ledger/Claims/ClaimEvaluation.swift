extension LedgerSession {
  private enum Evaluation {
    case stands(Claim)
    /// The row as another process has changed it meanwhile.
    case changed(LedgerRow)
  }

  /// The number of evaluations of a row that other processes change at the same time.
  private static let evaluationRounds = 3

  /// Evaluates the row that was read, and takes it over or reverses it where the table of outcomes
  /// demands this (docs/spec/ledger.md §5.1).
  ///
  /// - Parameter purchase: The purchase of the evidence; `nil` if the request has no evidence,
  ///   because the row was made from verified evidence (STO-30).
  mutating func evaluate(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Claim {
    var row = row
    for _ in 0..<Self.evaluationRounds {
      switch try evaluateOnce(row, request, purchase, transaction) {
      case .stands(let claim): return claim
      case .changed(let now): row = now
      }
    }
    return overtaken(row, for: request.account ?? row.owner)
  }

  private mutating func evaluateOnce(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Evaluation {
    guard let account = request.account ?? (row.owner.isEmpty ? nil : row.owner) else {
      return .stands(Claim(row, row.state == .revoked ? .revoked : .unclaimed))
    }
    switch row.state {
    case .granted:
      let outcome: ClaimOutcome = row.owner == account ? .alreadyGranted : .otherAccount
      return try stays(row, outcome, purchase, transaction)
    case .claimed:
      if row.owner.isEmpty, let purchase, !request.isOwnedByOther {
        guard let taken = try adopt(row, request, account, purchase, transaction) else {
          throw .rowMissing
        }
        return ours(taken, .new, request)
      }
      guard row.owner == account else {
        return try stays(row, request.refused(row), purchase, transaction)
      }
      return try evaluateClaimed(row, request, purchase, transaction)
    case .revoked:
      guard let purchase, let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else {
        return .stands(Claim(row, .revoked))
      }
      // Effects follow states in their order: a reversal waits for the pending take-back (STO-35).
      guard !row.isTakeBackPending else { return .stands(Claim(row, .inProgress)) }
      guard row.owner == account || row.owner.isEmpty && !request.isOwnedByOther else {
        return .stands(Claim(row, request.refused(row)))
      }
      return try reopen(row, account, request, purchase, transaction)
    }
  }

  private mutating func evaluateClaimed(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Evaluation {
    if row.attemptId == request.attemptId {
      if let purchase, row.evidence != purchase.evidence.sha256 {
        var claim = Claim(row, .inProgress)
        claim.reason = Refusal(.unavailableClaimAttemptId, "STO-28", at: "attemptId")
        return .stands(claim)
      }
      guard row.repeats <= request.repeatsCap else { return .stands(handedOut(row)) }
      let outcome: ClaimOutcome = row.fencingToken == 1 && row.generation == 0 ? .new : .resume
      guard let handed = try handOut(row, request) else { throw .rowMissing }
      return ours(handed, outcome, request)
    }
    guard row.leaseMs <= context.nowMs else {
      return try stays(row, .inProgress, purchase, transaction)
    }
    guard !request.holdsExpiredLease else { return try stays(row, .held, purchase, transaction) }
    guard row.repeats <= request.repeatsCap else { return .stands(handedOut(row)) }
    guard let taken = try takeOver(row, request, purchase, transaction) else { throw .rowMissing }
    return ours(taken, .resume, request)
  }

  /// Returns the claim if this attempt holds the row after a change; another process may have been
  /// faster.
  private func ours(
    _ row: LedgerRow, _ outcome: ClaimOutcome, _ request: ClaimRequest
  ) -> Evaluation {
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
  private mutating func stays(
    _ row: LedgerRow, _ outcome: ClaimOutcome, _ purchase: LedgerPurchase?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Evaluation {
    let raised = try raised(row, purchase, transaction)
    let isSame = raised.state == row.state && raised.owner == row.owner
    return isSame ? .stands(Claim(raised, outcome)) : .changed(raised)
  }

  /// Returns the outcome after other processes have changed the row first each time.
  private func overtaken(_ row: LedgerRow, for account: Text) -> Claim {
    switch row.state {
    case .revoked: return Claim(row, .revoked)
    case .granted: return Claim(row, row.owner == account ? .alreadyGranted : .otherAccount)
    case .claimed: return Claim(row, row.owner == account ? .inProgress : .otherAccount)
    }
  }

  /// Claims a row again after Apple reversed its refund (RFD-2).
  private mutating func reopen(
    _ row: LedgerRow, _ account: Text, _ request: ClaimRequest, _ purchase: LedgerPurchase,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Evaluation {
    var next = row
    // Units that were not taken back are not given again (STO-36).
    next.state = row.unitsToGive > 0 ? .claimed : .granted
    next.grantedAtMs = row.unitsToGive > 0 ? nil : context.nowMs
    next.owner = account
    next.generation = row.generation &+ 1
    next.grantId = LedgerRow.grantId(row.purchaseKey, generation: next.generation)
    next.attemptId = request.attemptId
    next.fencingToken = row.fencingToken &+ 1
    next.leaseMs = request.leaseExpiresAtMs
    next.claimedAtMs = context.nowMs
    next.asOfMs = purchase.facts.asOfMs
    next.evidence = purchase.evidence.sha256
    next.revokedAtMs = nil
    next.revokedShare = nil
    next.repeats = request.handsOut ? 1 : 0
    guard let stands = try reverse(next, purchase.evidence, transaction) else { throw .rowMissing }
    return ours(stands, .resume, request)
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
