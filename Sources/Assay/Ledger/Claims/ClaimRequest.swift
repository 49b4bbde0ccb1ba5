/// A request to claim: the account, the attempt and the terms of the lease.
struct ClaimRequest: Sendable {
  /// The claiming account; `nil` for an App Store notification, which acts for the purchase's
  /// owner.
  let account: Text?
  let attemptId: Text
  /// The end of the lease, in milliseconds since 1970 UTC.
  let leaseExpiresAtMs: Int64
  /// Whether an expired lease waits for an operator instead of being taken over (STO-27).
  let holdsExpiredLease: Bool
  /// Whether the grant is written in the transaction of the row instead of under a lease.
  var grantsInTransaction = false
  /// Whether the host's grant is keyed by the grant id in a transaction, too (STO-37).
  var allowsRepeat = false
  /// Whether another account owns the subscription of the purchase. Earlier grants of this account
  /// stay, and new ones are refused (RPL-2).
  var isOwnedByOther = false

  /// Whether the host receives the grant under a lease, and may execute it from then on (STO-37).
  var handsOut: Bool { !grantsInTransaction }

  /// The largest number of times that a row to take over may have been handed out (STO-37).
  var repeatsCap: Int64 { grantsInTransaction && !allowsRepeat ? 0 : MemberNode.exactInteger }

  /// The outcome if there is no row and this request does not insert one.
  var outcomeWithoutRow: ClaimOutcome { isOwnedByOther ? .otherSubscriber : .unclaimed }

  /// Returns the outcome of a row that is not this account's: another account owns it, or the
  /// subscription of a row without owner.
  func refused(_ row: LedgerRow) -> ClaimOutcome {
    row.owner.isEmpty && isOwnedByOther ? .otherSubscriber : .otherAccount
  }

  /// Returns the row of a first claim; `nil` if the request names no account or another account
  /// owns the subscription, because neither may create a row.
  @inline(never)
  func newRow(
    _ key: Text, _ purchase: LedgerPurchase, _ product: Catalogue.Product, note: Text?,
    nowMs: Int64
  ) -> LedgerRow? {
    guard let account, !isOwnedByOther else { return nil }
    return LedgerRow(
      purchaseKey: key, environment: Text(stringLiteral: purchase.facts.environment.name),
      transactionId: purchase.facts.transactionId,
      originalTransactionId: purchase.facts.originalTransactionId, state: .claimed,
      owner: account, product: product.id, quantity: purchase.quantity,
      purchasedAtMs: purchase.purchasedAtMs, asOfMs: purchase.facts.asOfMs,
      evidence: purchase.evidence.sha256, generation: 0,
      grantId: LedgerRow.grantId(key, generation: 0), attemptId: attemptId, fencingToken: 1,
      claimedAtMs: nowMs, leaseMs: leaseExpiresAtMs, note: note, units: purchase.units,
      repeats: handsOut ? 1 : 0)
  }

  /// Returns this request as it applies to the subscription of the purchase.
  ///
  /// - Parameter subscriptionOwner: The subscription's owner; empty if it has none yet, `nil` if
  ///   there is no subscription.
  func restricted(toSubscriptionOwner subscriptionOwner: Text?) -> ClaimRequest {
    guard let account, let subscriptionOwner, !subscriptionOwner.isEmpty else { return self }
    var request = self
    request.isOwnedByOther = account != subscriptionOwner
    return request
  }
}
