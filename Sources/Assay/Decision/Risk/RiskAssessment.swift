/// The verdict on a request that comes without an assertion, or with one
/// (RSK-2 … RSK-5). Every rule that fires yields a verdict; the strictest wins.
struct RiskAssessment {
  struct Finding {
    let rule: RiskRule
    var verdict: RiskVerdict
  }

  /// What fired, by the numbers of the rules.
  let findings: [Finding]
  /// The strictest; in record mode the verdict of the document is `allow` (RSK-5).
  let verdict: RiskVerdict
  /// Milliseconds; nil where waiting would change nothing.
  let retryAfterMs: Int64?
  private let observations: RiskObservations
  private let policy: RiskPolicy

  /// - Parameters:
  ///   - observations: what the host saw.
  ///   - configuration: of the verifier: rules, bits, accepted categories.
  ///   - nowMs: milliseconds since 1970 UTC.
  init(_ observations: RiskObservations, _ configuration: Configuration, nowMs: Int64) {
    let rules = RiskRules(
      observations: observations, configuration: configuration, nowMs: nowMs)
    self.observations = observations
    policy = configuration.risk
    let findings = RiskAssessment.findings(rules, configuration.risk)
    // Nothing to go by is no reason to allow.
    let verdict = RiskAssessment.strictest(findings) ?? .limited
    let isWorthWaiting = findings.contains {
      $0.verdict == verdict && verdict != .allow && rules.waitingHelps($0.rule)
    }
    retryAfterMs = isWorthWaiting ? RiskRules.retryAfterMs : nil
    self.findings = findings
    self.verdict = verdict
  }

  /// What the document says and the host enforces.
  var enforced: RiskVerdict { policy.isRecording ? .allow : verdict }

  private static func findings(_ rules: RiskRules, _ policy: RiskPolicy) -> [Finding] {
    var findings: [Finding] = []
    /// Puts the rule in its place by number.
    func judge(_ rule: RiskRule, _ standard: RiskVerdict?) {
      guard let standard else { return }
      let change = policy.change(of: rule)
      if change == .off { return }
      var finding = Finding(rule: rule, verdict: standard)
      if case .verdict(let verdict) = change { finding.verdict = verdict }
      let place = findings.firstIndex { $0.rule.rawValue > rule.rawValue }
      findings.insert(finding, at: place ?? findings.count)
    }
    for rule in RiskRule.allCases { judge(rule, rules.verdict(of: rule)) }
    if findings.isEmpty { judge(.otherwise, rules.otherwise) }
    // RSK-24 makes what the others come to one step stricter.
    if rules.unsupportedClaimsRise {
      judge(.unsupportedWave, (strictest(findings) ?? .limited).oneStepStricter)
    }
    return findings
  }

  private static func strictest(_ findings: [Finding]) -> RiskVerdict? {
    var strictest: RiskVerdict? = nil
    for finding in findings where finding.verdict.rawValue > strictest?.rawValue ?? -1 {
      strictest = finding.verdict
    }
    return strictest
  }

  // MARK: document

  /// The value of `risk`: `{"verdict","would","reasons","rules","allowance",
  /// "retryAfterMs","client"}`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("verdict", enforced.name)
    writer.name("would")
    if policy.isRecording { writer.string(verdict.name) } else { writer.null() }
    writer.name("reasons")
    writer.beginArray()
    for finding in findings { writer.string(finding.rule.id) }
    writer.endArray()
    writer.name("rules")
    writer.beginArray()
    for finding in findings {
      writer.beginObject()
      writer.member("id", finding.rule.id)
      writer.member("verdict", finding.verdict.name)
      writer.member("why", finding.rule.reason)
      writer.endObject()
    }
    writer.endArray()
    writer.member(
      "allowance", integer: enforced == .limited ? policy.limitedPerDay : nil)
    writer.member("retryAfterMs", integer: retryAfterMs)
    writer.name("client")
    if let error = observations.clientError { error.write(&writer) } else { writer.null() }
    writer.endObject()
  }
}

extension Verifier {
  /// `risk.assess`: what to do with a request, by the rules of device-check.md §4.
  func assessRisk(_ request: ExchangeRequest, nowMs: Int64) -> Document {
    var checks = Checks<RiskCheck>()
    func envelope() -> Envelope {
      Envelope(
        kind: "risk", factsMember: "risk", checks: checks.ledger, configuration: fingerprint)
    }
    let configuration = receipts.configuration
    do throws(Refusal) {
      checks.enter(.input)
      let observations = try RiskObservations(
        try request.required("observations"), configuration.deviceCheck)
      checks.enter(.verdict)
      let assessment = RiskAssessment(observations, configuration, nowMs: nowMs)
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

/// The checks of a risk assessment.
enum RiskCheck: Int, CheckList {
  case input, verdict

  static let ids: [StaticString] = ["risk.input", "risk.verdict"]
}

extension RiskObservations {
  /// DVC-10: bits whose meaning the configuration does not name tell nothing about
  /// an offer.
  func warnings(_ policy: DeviceCheckPolicy?) -> [Warning] {
    guard request == .promo, case .bits = deviceCheck, policy?.hasPromoBit != true else {
      return []
    }
    return [Warning("promo-bit-not-configured", at: "observations.deviceCheck")]
  }
}
