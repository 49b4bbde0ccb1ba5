extension Verifier {
  /// `risk.assess`: what to do with a request, by the rules of device-check.md §4.
  func assessRisk(_ request: ExchangeRequest, nowMs: Int64) -> Document {
    var checks = Checks(RiskCheck.ids)
    func envelope() -> Envelope {
      Envelope(kind: "risk", factsMember: "risk", checks: checks, configuration: fingerprint)
    }
    let configuration = receipts.configuration
    do throws(Refusal) {
      let observations = try checks.make(RiskCheck.input.rawValue) {
        () throws(Refusal) in
        try RiskObservations(try request.required("observations"), configuration.deviceCheck)
      }
      let assessment = RiskAssessment(observations, configuration, nowMs: nowMs)
      func warn(_ writer: inout JSONWriter) {
        Warning.write(observations.warnings(configuration.deviceCheck), &writer)
      }
      guard let status = assessment.enforced.refusal else {
        checks.pass(RiskCheck.verdict.rawValue)
        return envelope().accepted(nil, warnings: warn, capacity: 1536) { assessment.write(&$0) }
      }
      checks.fail(RiskCheck.verdict.rawValue)
      return envelope().refused(
        Refusal(status, "RSK-2"), warnings: warn, facts: { assessment.write(&$0) })
    } catch {
      return envelope().refused(error)
    }
  }
}
