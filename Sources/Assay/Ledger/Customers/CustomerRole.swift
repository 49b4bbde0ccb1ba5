/// The role of an account at an id of Apple's (CUS-5), from the weakest to the strongest.
enum CustomerRole: Int64, Sendable {
  /// The account has shown the download alone, or a purchase of another ownership.
  case holder = 0
  case family, assigned, payer

  var name: StaticString {
    switch self {
    case .holder: return "holder"
    case .family: return "family"
    case .assigned: return "assigned"
    case .payer: return "payer"
    }
  }

  init(ownership: Text?) {
    switch ownership {
    case "PURCHASED"?: self = .payer
    case "ASSIGNED"?: self = .assigned
    case "FAMILY_SHARED"?: self = .family
    default: self = .holder
    }
  }
}
