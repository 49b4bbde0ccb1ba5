/// What the ledger has of the purchase that a case is about, when the case is given out (RFA-7).
struct RefundSubject {
  /// The purchase; `nil` if it was never claimed.
  var purchase: LedgerRow? = nil
  /// The subscription or unlock; `nil` if there is none.
  var subscription: SubscriptionRow? = nil

  /// The beginning of the owner of what a forgotten account had (STO-93).
  private static let forgotten: Text = "forgotten:"

  private var owner: Text? {
    if let purchase, !purchase.owner.isEmpty { return purchase.owner }
    guard let subscription, !subscription.owner.isEmpty else { return nil }
    return subscription.owner
  }

  /// Whether the account was forgotten: no consent of its customer is left.
  var isForgotten: Bool {
    owner.map { $0.utf8.starts(with: RefundSubject.forgotten.utf8) } ?? false
  }

  var account: Text? { isForgotten ? nil : owner }

  /// Whether the purchase was granted at any time, or its subscription has an owner (RFA-23).
  var isGranted: Bool {
    if let purchase, purchase.state == .granted || purchase.grantedAtMs != nil { return true }
    if let purchase, purchase.outCount > 0 { return true }
    return subscription.map { !$0.owner.isEmpty } ?? false
  }

  /// The units that the host has taken back by now (STO-35).
  var takenUnits: Int64 {
    guard let purchase, purchase.state == .revoked, purchase.grantedAtMs != nil else { return 0 }
    return purchase.unitsToGive
  }
}
