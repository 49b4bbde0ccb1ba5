/// The checks of a decision.
enum DecisionCheck: Int, CheckList {
  case evidence, account, catalogue, plan

  static let ids: [StaticString] = [
    "decide.evidence", "account", "decide.catalogue", "decide.plan",
  ]

  /// Returns the check to which a refusal of the decision belongs.
  init(refusing status: Status) {
    switch status {
    case .rejectedAccountTokenMismatch, .rejectedAccountTokenMissing, .misuseDecisionAccount:
      self = .account
    default: self = .evidence
    }
  }
}
