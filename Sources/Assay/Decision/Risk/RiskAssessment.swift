/// The verdict on a request that comes with or without an assertion (RSK-2 … RSK-5). Every rule
/// that applies yields a verdict; the strictest one counts.
struct RiskAssessment {
  struct Finding {
    let rule: RiskRule
    var verdict: RiskVerdict
  }

  /// The rules that apply, in the order of their numbers.
  let findings: [Finding]
  /// The strictest verdict; in record mode the document's verdict is `allow` nevertheless
  /// (RSK-5).
  let verdict: RiskVerdict
  /// The time until a retry in milliseconds; `nil` if waiting would change nothing.
  let retryAfterMs: Int64?
  private let observations: RiskObservations
  private let policy: RiskPolicy

  /// Evaluates all rules.
  ///
  /// - Parameters:
  ///   - observations: the host's observations of the request.
  ///   - configuration: the verifier's: rules, bits, accepted categories.
  ///   - nowMs: milliseconds since 1970 UTC.
  init(_ observations: RiskObservations, _ configuration: Configuration, nowMs: Int64) {
    let rules = RiskRules(
      observations: observations, configuration: configuration, nowMs: nowMs)
    self.observations = observations
    policy = configuration.risk
    let findings = RiskAssessment.findings(rules, configuration.risk)
    // Without any applicable rule there is no reason to allow.
    let verdict = RiskAssessment.strictest(findings) ?? .limited
    let isWorthWaiting = findings.contains {
      $0.verdict == verdict && verdict != .allow && rules.waitingHelps($0.rule)
    }
    retryAfterMs = isWorthWaiting ? RiskRules.retryAfterMs : nil
    self.findings = findings
    self.verdict = verdict
  }

  /// The verdict that the document contains and the host enforces.
  var enforced: RiskVerdict { policy.isRecording ? .allow : verdict }

  private static func findings(_ rules: RiskRules, _ policy: RiskPolicy) -> [Finding] {
    var findings: [Finding] = []
    /// Inserts a finding in the order of the rules' numbers, with the configured change of its
    /// verdict.
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
    // RSK-24 makes the verdict of the other rules one step stricter.
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

  /// Writes the value of the member `risk`: `{"verdict","would","reasons","rules","allowance",
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
      writer.member("reason", finding.rule.reason)
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

extension RiskObservations {
  /// Returns a warning if bits are to decide about an offer although the configuration has none
  /// that means "offer used" (DVC-10).
  func warnings(_ policy: DeviceCheckPolicy?) -> [Warning] {
    guard request == .promo, case .bits = deviceCheck, policy?.hasPromoBit != true else {
      return []
    }
    return [Warning("promo-bit-not-configured", at: "observations.deviceCheck")]
  }
}
