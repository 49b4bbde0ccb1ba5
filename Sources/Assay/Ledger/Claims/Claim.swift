/// One purchase of a claim, with its outcome.
struct Claim {
  /// The key of the purchase; `nil` if its ids cannot be a key.
  var purchaseKey: Text? = nil
  var transactionId: Text
  var outcome: ClaimOutcome
  var product: Text
  var quantity: Int64
  /// The row after the claim; `nil` if no row was read.
  var row: LedgerRow? = nil
  /// The refusal that replaces the outcome's own: of `.refused`, and of `.inProgress` if this
  /// attempt has claimed the row with other evidence (STO-28).
  var reason: Refusal? = nil
  /// Whether the host granted in the transaction of the claim.
  var isGranted = false
  /// Units that the host gave in the transaction; `nil` for those that the row has yet to give
  /// (STO-36).
  var units: Int64? = nil
  /// Whether this grant id was handed to a host before (STO-37).
  var isRepeated = false

  /// Whether the claim is held because a host has had the grant under a lease (STO-37).
  var isHandedOut = false

  init(_ purchase: LedgerPurchase, _ outcome: ClaimOutcome, _ reason: Refusal? = nil) {
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

  var clientResult: StaticString? { isGranted ? "granted" : outcome.clientResult }

  func write(nowMs: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("purchaseKey", purchaseKey)
    writer.member("transactionId", transactionId)
    writer.member("outcome", outcome.name)
    if let reason { writer.member("status", reason.status.name) }
    writer.name("clientResult")
    if let clientResult { writer.string(clientResult) } else { writer.null() }
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
      writer.member("fencingToken", integer: row.fencingToken)
      writer.member("account", row.owner)
      writer.member("leaseExpiresAtMs", integer: row.leaseMs)
      writer.member("units", integer: units ?? row.unitsToGive)
      writer.member("repeat", boolean: isRepeated)
    case .alreadyGranted:
      writer.member("grantId", row.grantId)
      writer.member("grantedAtMs", integer: row.grantedAtMs)
    case .inProgress: writer.member("retryAfterMs", integer: max(0, row.leaseMs &- nowMs))
    case .held:
      writer.member("grantId", row.grantId)
      writer.member("fencingToken", integer: row.fencingToken)
      writer.member("account", row.owner)
      writer.member("claimedAtMs", integer: row.claimedAtMs)
      if isHandedOut { writer.member("reason", "lease") }
    case .revoked: writer.member("revokedAtMs", integer: row.revokedAtMs)
    case .otherAccount, .otherSubscriber, .unknownProduct, .upgraded, .familyShared, .unclaimed,
      .refused:
      break
    }
  }
}
