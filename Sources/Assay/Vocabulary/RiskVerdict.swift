/// The result of the risk rules, from the mildest to the strictest (RSK-2).
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

  /// The next stricter verdict, for a wave of "unsupported" claims (RSK-24).
  var oneStepStricter: RiskVerdict { RiskVerdict(rawValue: rawValue &+ 1) ?? .deny }

  /// The status of a document with this verdict; `nil` for `allow`.
  var refusal: Status? {
    switch self {
    case .allow: return nil
    case .limited: return .rejectedRiskLimited
    case .stepUp: return .rejectedRiskStepUp
    case .deny: return .rejectedRiskDeny
    }
  }
}
