/// The outcome of evidence for one subscription (STO-40).
struct AppliedLine {
  enum Outcome {
    case applied, stale, moved, otherAccount, moveTooSoon, leftOut, unknownProduct, refused

    var name: StaticString {
      switch self {
      case .applied: return "applied"
      case .stale: return "stale"
      case .moved: return "moved"
      case .otherAccount: return "other-account"
      case .moveTooSoon: return "move-too-soon"
      case .leftOut: return "left-out"
      case .unknownProduct: return "unknown-product"
      case .refused: return "refused"
      }
    }

    var refusal: Refusal? {
      switch self {
      case .applied, .stale, .moved, .leftOut: return nil
      case .otherAccount: return Refusal(.rejectedSubscriptionOtherAccount, "STO-42", at: "lines")
      case .moveTooSoon: return Refusal(.rejectedSubscriptionTransferTooSoon, "STO-42", at: "lines")
      case .unknownProduct: return Refusal(.rejectedProductUnknown, "STO-24", at: "lines")
      case .refused: return Refusal(.rejectedPurchaseInvalidId, "RPL-3", at: "lines")
      }
    }
  }

  let purchase: StorePurchase
  var outcome: Outcome
  var reason: Refusal? = nil
  /// The row afterwards; `nil` if there is none.
  var row: LineRow? = nil
  var canMove = false
  var changed = false

  var refusal: Refusal? { reason ?? outcome.refusal }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("outcome", outcome.name)
    if let reason { writer.member("status", reason.status.name) }
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("changed", boolean: changed)
    if outcome == .otherAccount { writer.member("canMove", boolean: canMove) }
    writer.name("line")
    if let row, outcome != .otherAccount, outcome != .moveTooSoon {
      LineEntitlement.write(row, counts: row.revokedMs == nil && row.clearedMs == nil, &writer)
    } else {
      writer.null()
    }
    writer.endObject()
  }
}
