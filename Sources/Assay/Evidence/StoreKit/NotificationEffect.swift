/// The effect of a notification's type on the plan (docs/spec/storekit-payloads.md §5). The
/// type only explains a change; the state is decided from the evidence inside the notification
/// (NTF-11).
enum NotificationEffect {
  case grant, keep, end, recompute, none

  var name: StaticString {
    switch self {
    case .grant: return "grant"
    case .keep: return "keep"
    case .end: return "end"
    case .recompute: return "recompute"
    case .none: return "none"
    }
  }

  init(_ fields: Fields) {
    let subtype = fields.text("subtype")
    switch fields.text("notificationType") {
    case "SUBSCRIBED", "DID_RENEW", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE": self = .grant
    case "DID_FAIL_TO_RENEW": self = subtype == "GRACE_PERIOD" ? .keep : .end
    case "GRACE_PERIOD_EXPIRED", "EXPIRED", "REFUND", "REVOKE": self = .end
    case "DID_CHANGE_RENEWAL_PREF": self = subtype == "UPGRADE" ? .recompute : .keep
    case "DID_CHANGE_RENEWAL_STATUS": self = .keep
    case "OFFER_REDEEMED", "REFUND_REVERSED", "METADATA_UPDATE", "MIGRATION", "MIGRATE":
      self = .recompute
    default: self = .none
    }
  }
}
