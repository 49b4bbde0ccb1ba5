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
  /// Of `.refused`, and of `.inProgress` where it is this attempt itself (STO-28).
  var reason: Refusal? = nil
  /// The host granted in the transaction of the claim.
  var isGranted = false
  /// STO-36: what the host gives, or gave in the transaction; nil: nothing.
  var units: Int64? = nil
  /// STO-37: this grant id was handed to a host before.
  var isRepeated = false

  /// STO-37: it is held since a host has had it under a lease.
  var isHandedOut = false

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
      writer.member("units", integer: units ?? row.unitsToGive)
      writer.member("repeat", boolean: isRepeated)
    case .alreadyGranted:
      writer.member("grantId", row.grantId)
      writer.member("grantedMs", integer: row.grantedMs)
    case .inProgress: writer.member("retryAfterMs", integer: max(0, row.leaseMs &- nowMs))
    case .held:
      writer.member("grantId", row.grantId)
      writer.member("fence", integer: row.tries)
      writer.member("account", row.owner)
      writer.member("claimedMs", integer: row.claimedMs)
      if isHandedOut { writer.member("why", "lease") }
    case .revoked: writer.member("revokedMs", integer: row.revokedMs)
    case .otherAccount, .unknownProduct, .upgraded, .familyShared, .unclaimed, .refused: break
    }
  }
}
