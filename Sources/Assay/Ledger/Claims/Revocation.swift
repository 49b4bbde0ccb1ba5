/// The outcome of a revocation in the ledger, and what the host takes back (docs/spec/ledger.md
/// §5.3).
struct Revocation {
  enum Outcome {
    case wasGranted, wasClaimed, unclaimed, already
    /// A later state is stored.
    case stale
    /// The evidence contains no revocation of the purchase.
    case notRevoked
    case refused
    /// A take-back is pending, and this revocation takes back more (STO-35).
    case inProgress

    var name: StaticString {
      switch self {
      case .wasGranted: return "was-granted"
      case .wasClaimed: return "was-claimed"
      case .unclaimed: return "unclaimed"
      case .already: return "already"
      case .stale: return "stale"
      case .notRevoked: return "not-revoked"
      case .refused: return "refused"
      case .inProgress: return "in-progress"
      }
    }
  }

  let purchase: LedgerPurchase
  var outcome: Outcome
  /// The row after the revocation; `nil` if no row was read.
  var row: LedgerRow? = nil
  /// The take-back for the host; `nil` if the host does nothing.
  var take: TakeBack? = nil

  /// Whether the revocation changed what the account has (STO-31).
  var changed: Bool { outcome == .wasGranted || outcome == .wasClaimed }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("purchaseKey", row?.purchaseKey ?? purchase.purchaseKey)
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("outcome", outcome.name)
    writer.member("account", row.flatMap { $0.owner.isEmpty ? nil : $0.owner })
    writer.member("product", row?.product ?? purchase.facts.productId)
    writer.member("quantity", integer: row?.quantity ?? purchase.quantity)
    writer.member("percentage", integer: purchase.facts.revocationPercentage)
    writer.member("grantId", take == nil ? nil : row?.grantId)
    writer.member("revokedAtMs", integer: row?.revokedAtMs)
    writer.name("take")
    if let take { take.write(&writer) } else { writer.null() }
    writer.member("changed", boolean: changed)
    writer.endObject()
  }
}
