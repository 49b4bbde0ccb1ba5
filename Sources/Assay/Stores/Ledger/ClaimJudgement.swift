/// What the row of the ledger says to a claim (docs/spec/stores.md §5.1).
enum ClaimOutcome {
  case new, resume, alreadyGranted, inProgress, otherAccount, revoked, held, unknownProduct
  /// Left out as a decision leaves them out (STO-25).
  case upgraded, familyShared
  /// Nobody has claimed it, and no account was given.
  case unclaimed
  /// RPL-3, DCD-20, STO-43, STO-28.
  case refused

  var name: StaticString {
    switch self {
    case .new: return "new"
    case .resume: return "resume"
    case .alreadyGranted: return "already-granted"
    case .inProgress: return "in-progress"
    case .otherAccount: return "other-account"
    case .revoked: return "revoked"
    case .held: return "held"
    case .unknownProduct: return "unknown-product"
    case .upgraded: return "upgraded"
    case .familyShared: return "family-shared"
    case .unclaimed: return "unclaimed"
    case .refused: return "refused"
    }
  }

  /// The claim is ours: the host grants.
  var isOurs: Bool { self == .new || self == .resume }

  /// STO-20, in the words of LST-2. nil: the host has yet to grant.
  var answer: StaticString? {
    switch self {
    case .new, .resume: return nil
    case .alreadyGranted: return "already-granted"
    case .otherAccount, .revoked, .upgraded, .familyShared, .refused: return "refused-final"
    case .unknownProduct: return "refused-keep"
    case .inProgress, .held, .unclaimed: return "deferred"
    }
  }

  /// nil: go ahead.
  var refusal: Refusal? {
    switch self {
    case .new, .resume, .unclaimed: return nil
    case .alreadyGranted:
      return Refusal(.rejectedLedgerAlreadyGranted, "STO-20", at: "claims")
    case .inProgress: return Refusal(.unavailableLedgerInProgress, "STO-22", at: "claims")
    case .otherAccount: return Refusal(.rejectedLedgerOtherAccount, "RPL-2", at: "claims")
    case .revoked, .upgraded, .familyShared:
      return Refusal(.rejectedLedgerRevoked, "RFD-3", at: "claims")
    case .held: return Refusal(.unavailableLedgerHeld, "STO-27", at: "claims")
    case .unknownProduct: return Refusal(.rejectedIdentityProduct, "STO-24", at: "claims")
    case .refused: return Refusal(.rejectedLedgerId, "RPL-3", at: "claims")
    }
  }
}

/// One purchase of a claim, and what became of it.
struct Claim {
  /// nil: no row can be named.
  var purchaseKey: Text? = nil
  var transactionId: Text
  var outcome: ClaimOutcome
  var product: Text
  var quantity: Int64
  /// As it stands after the claim; nil: no row was read.
  var row: LedgerRow? = nil
  /// Of `.refused`.
  var reason: Refusal? = nil
  /// The host granted in the transaction of the claim.
  var isGranted = false

  init(_ purchase: StorePurchase, _ outcome: ClaimOutcome, _ reason: Refusal? = nil) {
    transactionId = purchase.facts.transactionId
    product = purchase.facts.productId
    quantity = purchase.quantity
    purchaseKey = purchase.purchaseKey
    self.outcome = outcome
    self.reason = reason
  }

  init(_ row: LedgerRow, _ outcome: ClaimOutcome) {
    transactionId = row.transactionId
    product = row.product
    quantity = row.quantity
    purchaseKey = row.purchaseKey
    self.outcome = outcome
    self.row = row
  }

  var refusal: Refusal? { reason ?? outcome.refusal }

  var answer: StaticString? { isGranted ? "granted" : outcome.answer }

  func write(nowMs: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("purchaseKey", purchaseKey)
    writer.member("transactionId", transactionId)
    writer.member("outcome", outcome.name)
    if let reason { writer.member("status", reason.status.name) }
    writer.name("answer")
    if let answer { writer.string(answer) } else { writer.null() }
    writer.member("product", product)
    writer.member("quantity", integer: quantity)
    writer.member("changed", boolean: isGranted)
    if let row { writeRow(row, nowMs: nowMs, &writer) }
    writer.endObject()
  }

  private func writeRow(_ row: LedgerRow, nowMs: Int64, _ writer: inout JSONWriter) {
    switch outcome {
    case .new, .resume:
      writer.member("grantId", row.grantId)
      writer.member("fence", integer: row.tries)
      writer.member("account", row.owner)
      writer.member("leaseUntilMs", integer: row.leaseMs)
    case .alreadyGranted:
      writer.member("grantId", row.grantId)
      writer.member("grantedMs", integer: row.grantedMs)
    case .inProgress: writer.member("retryAfterMs", integer: max(0, row.leaseMs &- nowMs))
    case .held:
      writer.member("grantId", row.grantId)
      writer.member("fence", integer: row.tries)
      writer.member("account", row.owner)
      writer.member("claimedMs", integer: row.claimedMs)
    case .revoked: writer.member("revokedMs", integer: row.revokedMs)
    case .otherAccount, .unknownProduct, .upgraded, .familyShared, .unclaimed, .refused: break
    }
  }
}

/// Who claims, and for how long.
struct Claimant: Sendable {
  /// nil: an event from Apple, which speaks for whoever has the purchase.
  let account: Text?
  let attempt: Text
  /// Milliseconds since 1970 UTC: the end of the lease.
  let leaseUntilMs: Int64
  /// STO-27: a lease that is over is left to a person.
  let holds: Bool
}

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
      guard row.owner.isEmpty || row.owner == account else { return Claim(row, .otherAccount) }
      return try reopen(row, account, claimant, purchase, transaction)
    }
  }

  private mutating func judgeClaimed(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Claim {
    if row.attempt == claimant.attempt {
      if let purchase, row.evidence != purchase.evidence.sha256 {
        return Claim(purchase, .refused, Refusal(.misuseStoreAttempt, "STO-28", at: "attempt"))
      }
      return Claim(row, row.tries == 1 && row.generation == 0 ? .new : .resume)
    }
    guard row.leaseMs <= context.nowMs else { return Claim(row, .inProgress) }
    guard !claimant.holds else { return Claim(row, .held) }
    let taken = try takeOver(
      row, attempt: claimant.attempt, leaseMs: claimant.leaseUntilMs,
      purchase?.evidence, transaction)
    guard let taken else { throw .rowMissing }
    return Claim(taken, taken.isClaimed(by: claimant) ? .resume : .inProgress)
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
    if stands.isClaimed(by: claimant) { return Claim(stands, .resume) }
    switch stands.state {
    case .revoked: return Claim(stands, .revoked)
    case .granted: return Claim(stands, stands.owner == account ? .alreadyGranted : .otherAccount)
    case .claimed: return Claim(stands, stands.owner == account ? .inProgress : .otherAccount)
    }
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
