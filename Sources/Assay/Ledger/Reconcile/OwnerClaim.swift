/// The claim of a consumable that was paid and never granted, for the account that is known by its
/// appAccountToken. It is a claim whose lease is over: `resume-expired` pays it
/// (docs/spec/reconcile.md RCN-25).
struct OwnerClaim {
  let purchase: LedgerPurchase
  let owner: Text

  /// Returns the owner of each purchase: the only account that has shown its token; `nil` where
  /// there is no token or no such account (CUS-32).
  static func owners(
    of purchases: [LedgerPurchase], _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> [Text?] {
    let context = database.session.context
    // A host that ignores tokens does not set them to its accounts.
    guard let secret = context.policy.customerKey,
      context.configuration.decision.accountToken != .ignored
    else { return purchases.map { _ in nil } }
    let keys = purchases.map { purchase in
      purchase.accountToken.map { CustomerKey(token: $0, secret).text }
    }
    var distinct: [Text] = []
    for key in keys.compactMap({ $0 }) where !distinct.contains(key) { distinct.append(key) }
    let found = try database.customers(at: distinct)
    return keys.map { key in
      guard let key, let place = distinct.firstIndex(of: key), found[place].count == 1 else {
        return nil
      }
      return found[place].first?.account
    }
  }

  /// Claims the purchase.
  ///
  /// - Parameter row: The row of the purchase, which is nobody's; `nil` if there is none.
  /// - Returns: The claim, which is another account's if that was faster; `nil` for a product that
  ///   the catalogue lacks.
  func claim(
    _ key: Text, _ row: LedgerRow?, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Claim? {
    guard let product = purchase.product else { return nil }
    let nowMs = database.session.context.nowMs
    // The digest is the attempt: whoever reads the same page again repeats it.
    let request = ClaimRequest(
      account: owner, attemptId: purchase.evidence.sha256, leaseExpiresAtMs: nowMs,
      holdsExpiredLease: false, grantsInTransaction: true)
    var row = row
    if row == nil {
      let new = request.newRow(key, purchase, product, note: "reconcile", nowMs: nowMs)
      guard let new else { return nil }
      row = try database.insert(new, purchase.evidence)
    }
    guard let row else { return nil }
    return try ClaimEvaluation(request: request, purchase: purchase, database: database)
      .claim(row)
  }
}
