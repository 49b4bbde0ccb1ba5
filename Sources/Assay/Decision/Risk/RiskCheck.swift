/// The checks of a risk assessment.
enum RiskCheck: Int, CheckList {
  case input, verdict

  static let ids: [StaticString] = ["risk.input", "risk.verdict"]
}
