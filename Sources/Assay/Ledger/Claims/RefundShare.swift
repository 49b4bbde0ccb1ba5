/// The units of a purchase that a revocation takes back (STO-35). A share is Apple's
/// `revocationPercentage`: milliunits of the whole, 0 … 100000.
enum RefundShare {
  static let full: Int64 = 100_000

  /// Returns the share that a revocation takes of units; `nil` if Apple gave back a part of the
  /// money and does not tell which part (RFA-40).
  static func told(_ percentage: Int64?, _ revocationType: Text?) -> Int64? {
    if let percentage { return max(0, min(percentage, full)) }
    return revocationType == "REFUND_PRORATED" ? nil : full
  }

  /// Returns the share of `units`, rounded to the nearest unit; an exact half stays with the
  /// customer.
  static func back(of units: Int64, _ share: Int64) -> Int64 {
    let (units, share) = (max(0, min(units, MemberNode.exactInteger)), max(0, min(share, full)))
    let (whole, rest) = (units / full, units % full)
    return whole &* share &+ (2 &* rest &* share &+ 99_999) / 200_000
  }
}

extension LedgerRow {
  /// The units that a revoked row leaves with the customer.
  var target: Int64 {
    max(0, units &- RefundShare.back(of: units, revokedShare ?? RefundShare.full))
  }
}

extension LedgerPurchase {
  /// The share of the units that the revocation takes back. Products that give access lose all of
  /// it, whatever part of the money Apple gave back. A part that Apple does not tell takes nothing:
  /// a person decides (RFA-40).
  var revokedShare: Int64 {
    isDivisible
      ? RefundShare.told(facts.revocationPercentage, facts.revocationType) ?? 0 : RefundShare.full
  }

  /// Whether Apple gave back a part of the money for units, and does not tell which part.
  var isShareUnknown: Bool {
    isDivisible && facts.revokedAtMs != nil
      && RefundShare.told(facts.revocationPercentage, facts.revocationType) == nil
  }

  private var isDivisible: Bool {
    switch product?.type ?? facts.type {
    case .autoRenewable, .nonRenewing, .nonConsumable: return false
    case .consumable, nil: return true
    }
  }
}
