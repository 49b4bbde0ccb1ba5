/// What the risk rules come to, from the mildest to the strictest (RSK-2).
enum RiskVerdict: Int, Sendable, Equatable {
  case allow, limited, stepUp, deny

  var name: StaticString {
    switch self {
    case .allow: return "allow"
    case .limited: return "limited"
    case .stepUp: return "step-up"
    case .deny: return "deny"
    }
  }

  /// RSK-24.
  var oneStepStricter: RiskVerdict { RiskVerdict(rawValue: rawValue &+ 1) ?? .deny }

  /// What a document with this verdict is refused for; nil: nothing.
  var refusal: Status? {
    switch self {
    case .allow: return nil
    case .limited: return .rejectedRiskLimited
    case .stepUp: return .rejectedRiskStepUp
    case .deny: return .rejectedRiskDeny
    }
  }
}
