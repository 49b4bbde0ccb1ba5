extension RiskAssessment {
  /// `assess-risk`: assesses a request by the rules of docs/spec/device-check.md §4.
  static func document(_ context: OperationContext) -> Document {
    var checks = Checks<RiskCheck>()
    func envelope() -> Envelope {
      Envelope(
        kind: "risk", factsMember: "risk", checks: checks.log,
        configuration: context.fingerprint)
    }
    let configuration = context.configuration
    do throws(Refusal) {
      checks.enter(.input)
      let observations = try RiskObservations(
        try context.request.required("observations"), configuration.deviceCheck)
      checks.enter(.verdict)
      let assessment = RiskAssessment(observations, configuration, nowMs: context.nowMs)
      func warn(_ writer: inout JSONWriter) {
        Warning.write(observations.warnings(configuration.deviceCheck), &writer)
      }
      guard let status = assessment.enforced.refusal else {
        return envelope().accepted(nil, warnings: warn, capacity: 1536) { assessment.write(&$0) }
      }
      return envelope().refused(
        Refusal(status, "RSK-2"), warnings: warn, facts: { assessment.write(&$0) })
    } catch {
      return envelope().refused(error)
    }
  }
}
