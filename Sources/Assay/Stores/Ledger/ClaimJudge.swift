extension StoreTalk {
  private enum Judgement {
    case stands(Claim)
    /// Another was faster: the row as it is now.
    case changed(LedgerRow)
  }

  /// Of a row that others change at the same time.
  private static let judgeRounds = 3

  /// Judges the row that was read, and takes it over or reverses it where the table says so.
  ///
  /// - Parameter purchase: nil where the row itself stands for its evidence (STO-30).
  mutating func judge(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Claim {
    var row = row
    for _ in 0..<Self.judgeRounds {
      switch try judgeOnce(row, claimant, purchase, transaction) {
      case .stands(let claim): return claim
      case .changed(let now): row = now
      }
    }
    return overtaken(row, for: claimant.account ?? row.owner)
  }

  private mutating func judgeOnce(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Judgement {
    guard let account = claimant.account ?? (row.owner.isEmpty ? nil : row.owner) else {
      return .stands(Claim(row, row.state == .revoked ? .revoked : .unclaimed))
    }
    switch row.state {
    case .granted:
      let outcome: ClaimOutcome = row.owner == account ? .alreadyGranted : .otherAccount
      return try stays(row, outcome, purchase, transaction)
    case .claimed:
      if row.owner.isEmpty, let purchase, !claimant.isStranger {
        guard let taken = try adopt(row, claimant, account, purchase, transaction) else {
          throw .rowMissing
        }
        return ours(taken, .new, claimant)
      }
      guard row.owner == account else {
        return try stays(row, .otherAccount, purchase, transaction)
      }
      return try judgeClaimed(row, claimant, purchase, transaction)
    case .revoked:
      guard let purchase, let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else {
        return .stands(Claim(row, .revoked))
      }
      // STO-35: effects follow states in their order.
      guard !row.isTakeBackPending else { return .stands(Claim(row, .inProgress)) }
      guard row.owner == account || row.owner.isEmpty && !claimant.isStranger else {
        return .stands(Claim(row, .otherAccount))
      }
      return try reopen(row, account, claimant, purchase, transaction)
    }
  }

  private mutating func judgeClaimed(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Judgement {
    if row.attempt == claimant.attempt {
      if let purchase, row.evidence != purchase.evidence.sha256 {
        var claim = Claim(row, .inProgress)
        claim.reason = Refusal(.unavailableLedgerAttempt, "STO-28", at: "attempt")
        return .stands(claim)
      }
      guard row.repeats <= claimant.repeatsCap else { return .stands(handedOut(row)) }
      let outcome: ClaimOutcome = row.tries == 1 && row.generation == 0 ? .new : .resume
      guard let handed = try handOut(row, claimant) else { throw .rowMissing }
      return ours(handed, outcome, claimant)
    }
    guard row.leaseMs <= context.nowMs else {
      return try stays(row, .inProgress, purchase, transaction)
    }
    guard !claimant.holds else { return try stays(row, .held, purchase, transaction) }
    guard row.repeats <= claimant.repeatsCap else { return .stands(handedOut(row)) }
    guard let taken = try takeOver(row, claimant, purchase, transaction) else { throw .rowMissing }
    return ours(taken, .resume, claimant)
  }

  /// What a change left there is ours, or another's who was faster.
  private func ours(
    _ row: LedgerRow, _ outcome: ClaimOutcome, _ claimant: Claimant
  ) -> Judgement {
    guard row.isClaimed(by: claimant) else { return .changed(row) }
    var claim = Claim(row, outcome)
    claim.isRepeated = row.isRepeated(by: claimant)
    return .stands(claim)
  }

  /// STO-37: the host may have paid it under its lease.
  private func handedOut(_ row: LedgerRow) -> Claim {
    var claim = Claim(row, .held)
    claim.isHandedOut = true
    return claim
  }

  /// The row stays what it is; STO-33: it remembers how new the evidence is that was shown.
  private mutating func stays(
    _ row: LedgerRow, _ outcome: ClaimOutcome, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Judgement {
    let raised = try raised(row, purchase, transaction)
    let isSame = raised.state == row.state && raised.owner == row.owner
    return isSame ? .stands(Claim(raised, outcome)) : .changed(raised)
  }

  /// Others were faster each time; what the row says now.
  private func overtaken(_ row: LedgerRow, for account: Text) -> Claim {
    switch row.state {
    case .revoked: return Claim(row, .revoked)
    case .granted: return Claim(row, row.owner == account ? .alreadyGranted : .otherAccount)
    case .claimed: return Claim(row, row.owner == account ? .inProgress : .otherAccount)
    }
  }

  /// RFD-2: a reversed refund.
  private mutating func reopen(
    _ row: LedgerRow, _ account: Text, _ claimant: Claimant, _ purchase: StorePurchase,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Judgement {
    var next = row
    // What was not taken back is not given again (STO-36).
    next.state = row.unitsToGive > 0 ? .claimed : .granted
    next.grantedMs = row.unitsToGive > 0 ? nil : context.nowMs
    next.owner = account
    next.generation = row.generation &+ 1
    next.grantId = LedgerRow.grantId(row.purchaseKey, generation: next.generation)
    next.attempt = claimant.attempt
    next.tries = row.tries &+ 1
    next.leaseMs = claimant.leaseUntilMs
    next.claimedMs = context.nowMs
    next.asOfMs = purchase.facts.asOf
    next.evidence = purchase.evidence.sha256
    next.revokedMs = nil
    next.revokedShare = nil
    next.repeats = claimant.handsOut ? 1 : 0
    guard let stands = try reverse(next, purchase.evidence, transaction) else { throw .rowMissing }
    return ours(stands, .resume, claimant)
  }
}

extension LedgerRow {
  fileprivate func isClaimed(by claimant: Claimant) -> Bool {
    state == .claimed && attempt == claimant.attempt
  }

  /// STO-37: its grant id was handed to a host before this claimant got it.
  func isRepeated(by claimant: Claimant) -> Bool { repeats > (claimant.handsOut ? 1 : 0) }
}

extension StoreStop {
  /// A row that stood there a moment ago.
  static var rowMissing: StoreStop {
    .refused(Refusal(.unavailableStoreRowMissing, "STO-4", at: "rows"))
  }
}
