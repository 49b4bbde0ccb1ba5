/// The outcome of evidence for one subscription (STO-40).
struct UpdatedSubscription {
  enum Outcome {
    case applied, stale, moved, otherAccount, transferTooSoon, excluded, unknownProduct, refused

    var name: StaticString {
      switch self {
      case .applied: return "applied"
      case .stale: return "stale"
      case .moved: return "transferred"
      case .otherAccount: return "other-account"
      case .transferTooSoon: return "transfer-too-soon"
      case .excluded: return "excluded"
      case .unknownProduct: return "unknown-product"
      case .refused: return "refused"
      }
    }

    var refusal: Refusal? {
      switch self {
      case .applied, .stale, .moved, .excluded: return nil
      case .otherAccount:
        return Refusal(.rejectedSubscriptionOtherAccount, "STO-42", at: "subscriptions")
      case .transferTooSoon:
        return Refusal(.rejectedSubscriptionTransferTooSoon, "STO-42", at: "subscriptions")
      case .unknownProduct: return Refusal(.rejectedProductUnknown, "STO-24", at: "subscriptions")
      case .refused: return Refusal(.rejectedPurchaseInvalidId, "RPL-3", at: "subscriptions")
      }
    }
  }

  let purchase: LedgerPurchase
  var outcome: Outcome
  var reason: Refusal? = nil
  /// The row afterwards; `nil` if there is none.
  var row: SubscriptionRow? = nil
  var canTransfer = false
  var changed = false

  var refusal: Refusal? { reason ?? outcome.refusal }

  /// Returns the purchase if its subscription belongs to the account afterwards; else `nil`.
  func purchase(of account: Text) -> LedgerPurchase? {
    row?.owner == account ? purchase : nil
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("outcome", outcome.name)
    if let reason { writer.member("status", reason.status.name) }
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("changed", boolean: changed)
    if outcome == .otherAccount { writer.member("canTransfer", boolean: canTransfer) }
    writer.name("subscription")
    if let row, outcome != .otherAccount, outcome != .transferTooSoon {
      PlanEntitlement.write(
        row, counts: row.revokedAtMs == nil && row.deactivatedAtMs == nil, &writer)
    } else {
      writer.null()
    }
    writer.endObject()
  }
}
