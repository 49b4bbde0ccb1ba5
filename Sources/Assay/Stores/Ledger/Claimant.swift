/// A request to claim: the account, the attempt and the terms of the lease.
struct Claimant: Sendable {
  /// The claiming account; `nil` for an App Store notification, which acts for the purchase's
  /// owner.
  let account: Text?
  let attempt: Text
  /// The end of the lease, in milliseconds since 1970 UTC.
  let leaseExpiresAtMs: Int64
  /// Whether an expired lease waits for an operator instead of being taken over (STO-27).
  let holds: Bool
  /// Whether the grant is written in the transaction of the row instead of under a lease.
  var isInTransaction = false
  /// Whether the host's grant is keyed by the grant id in a transaction, too (STO-37).
  var allowsRepeat = false
  /// Whether another account owns the subscription of the purchase. Earlier grants of this account
  /// stay, and new ones are refused (RPL-2).
  var isStranger = false

  /// Whether the host receives the grant under a lease, and may execute it from then on (STO-37).
  var handsOut: Bool { !isInTransaction }

  /// The largest number of times that a row to take over may have been handed out (STO-37).
  var repeatsCap: Int64 { isInTransaction && !allowsRepeat ? 0 : MemberNode.exactInteger }

  /// The outcome if there is no row and this request does not insert one.
  var absent: ClaimOutcome { isStranger ? .otherSubscriber : .unclaimed }

  /// Returns the outcome of a row that is not this account's: another account owns it, or the
  /// subscription of a row without owner.
  func refused(_ row: LedgerRow) -> ClaimOutcome {
    row.owner.isEmpty && isStranger ? .otherSubscriber : .otherAccount
  }

  /// Returns this request as it applies to the subscription of the purchase.
  ///
  /// - Parameter lineOwner: The subscription's owner; empty if it has none yet, `nil` if there is
  ///   no subscription.
  func facing(_ lineOwner: Text?) -> Claimant {
    guard let account, let lineOwner, !lineOwner.isEmpty else { return self }
    var claimant = self
    claimant.isStranger = account != lineOwner
    return claimant
  }
}
