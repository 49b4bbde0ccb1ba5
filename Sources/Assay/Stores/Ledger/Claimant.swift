/// Who claims, and for how long.
struct Claimant: Sendable {
  /// nil: an event from Apple, which speaks for whoever has the purchase.
  let account: Text?
  let attempt: Text
  /// Milliseconds since 1970 UTC: the end of the lease.
  let leaseUntilMs: Int64
  /// STO-27: a lease that is over is left to a person.
  let holds: Bool
  /// The grant is written in the transaction of the row, not under a lease.
  var isInTransaction = false
  /// STO-37: the host's grant is keyed by the grant id in a transaction, too.
  var allowsRepeat = false
  /// RPL-2: the line of the purchase is another account's; what this one has of it stays,
  /// and nothing new comes to it.
  var isStranger = false

  /// STO-37: what it claims goes to the host under a lease, and may be paid from then on.
  var handsOut: Bool { !isInTransaction }

  /// STO-37: how often what it takes over may have been handed out before.
  var repeatsCap: Int64 { isInTransaction && !allowsRepeat ? 0 : MemberNode.exactInteger }

  /// What it means that there is no row, where this one makes none.
  var absent: ClaimOutcome { isStranger ? .otherAccount : .unclaimed }

  /// The same before a line of that owner; empty: nobody's yet, nil: there is no such line.
  func facing(_ lineOwner: Text?) -> Claimant {
    guard let account, let lineOwner, !lineOwner.isEmpty else { return self }
    var claimant = self
    claimant.isStranger = account != lineOwner
    return claimant
  }
}
