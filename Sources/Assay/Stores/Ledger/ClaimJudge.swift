extension StoreTalk {
  /// Judges the row that was read, and takes it over or reverses it where the table says so.
  ///
  /// - Parameter purchase: nil where the row itself stands for its evidence (STO-30).
  mutating func judge(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Claim {
    guard let account = claimant.account ?? (row.owner.isEmpty ? nil : row.owner) else {
      return Claim(row, row.state == .revoked ? .revoked : .unclaimed)
    }
    switch row.state {
    case .granted: return Claim(row, row.owner == account ? .alreadyGranted : .otherAccount)
    case .claimed:
      guard row.owner == account else { return Claim(row, .otherAccount) }
      return try judgeClaimed(row, claimant, purchase, transaction)
    case .revoked:
      guard let purchase, purchase.undoesRevocation(of: row) else { return Claim(row, .revoked) }
      guard row.owner == account || row.owner.isEmpty && !claimant.isStranger else {
        return Claim(row, .otherAccount)
      }
      return try reopen(row, account, claimant, purchase, transaction)
    }
  }

  private mutating func judgeClaimed(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Claim {
    if row.attempt == claimant.attempt {
      if let purchase, row.evidence != purchase.evidence.sha256 {
        var claim = Claim(row, .inProgress)
        claim.reason = Refusal(.unavailableLedgerAttempt, "STO-28", at: "attempt")
        return claim
      }
      return Claim(row, row.tries == 1 && row.generation == 0 ? .new : .resume)
    }
    guard row.leaseMs <= context.nowMs else { return Claim(row, .inProgress) }
    guard !claimant.holds else { return Claim(row, .held) }
    let taken = try takeOver(
      row, attempt: claimant.attempt, leaseMs: claimant.leaseUntilMs,
      purchase?.evidence, transaction)
    guard let taken else { throw .rowMissing }
    return taken.isClaimed(by: claimant) ? Claim(taken, .resume) : overtaken(taken, for: row.owner)
  }

  /// Another was faster; what the row says now.
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
  ) throws(StoreStop) -> Claim {
    var next = row
    next.state = .claimed
    next.owner = account
    next.generation = row.generation &+ 1
    next.grantId = LedgerRow.grantId(row.purchaseKey, generation: next.generation)
    next.attempt = claimant.attempt
    next.tries = row.tries &+ 1
    next.leaseMs = claimant.leaseUntilMs
    next.claimedMs = context.nowMs
    next.asOfMs = purchase.facts.asOf
    next.evidence = purchase.evidence.sha256
    next.grantedMs = nil
    next.revokedMs = nil
    guard let stands = try reverse(next, purchase.evidence, transaction) else { throw .rowMissing }
    return stands.isClaimed(by: claimant) ? Claim(stands, .resume) : overtaken(stands, for: account)
  }
}

extension LedgerRow {
  fileprivate func isClaimed(by claimant: Claimant) -> Bool {
    state == .claimed && attempt == claimant.attempt
  }
}

extension StorePurchase {
  /// RFD-2, RFD-5: only later evidence that would show a revocation.
  fileprivate func undoesRevocation(of row: LedgerRow) -> Bool {
    facts.revokedAt == nil && facts.asOf > row.asOfMs && facts.timeIsKnown
      && facts.shows.contains(.revocation)
  }
}

extension StoreStop {
  /// A row that stood there a moment ago.
  static var rowMissing: StoreStop {
    .refused(Refusal(.unavailableStoreRowMissing, "STO-4", at: "rows"))
  }
}
