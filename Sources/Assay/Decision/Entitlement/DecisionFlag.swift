/// An additional property of a state; all that apply are reported (DCD-9).
enum DecisionFlag: Sendable, Equatable {
  case renewalBooked, cancelled, trial, intro, offer, willNotRenew, changePending
  case priceConsentPending, family, assigned, byThisEvidence
  case commitment, commitmentEnding

  var name: StaticString {
    switch self {
    case .renewalBooked: return "renewal-booked"
    case .cancelled: return "cancelled"
    case .trial: return "trial"
    case .intro: return "intro"
    case .offer: return "offer"
    case .willNotRenew: return "will-not-renew"
    case .changePending: return "change-pending"
    case .priceConsentPending: return "price-consent-pending"
    case .family: return "family"
    case .assigned: return "assigned"
    case .byThisEvidence: return "by-this-evidence"
    case .commitment: return "commitment"
    case .commitmentEnding: return "commitment-ending"
    }
  }
}
