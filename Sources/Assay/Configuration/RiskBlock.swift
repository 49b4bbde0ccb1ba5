/// `risk`: the changes to the risk rules (docs/spec/configuration.md §6).
struct RiskPolicy: Sendable {
  /// Whether the verdict is always `allow`, with the actual one reported beside it (RSK-5).
  var isRecording = false
  /// The changes to the table of rules.
  var changes: [(rule: RiskRule, change: Change)] = []
  /// The risk metric above which a step-up is required (RSK-21).
  var receiptThreshold: Int64 = 10
  /// Requests per day, reported with `limited`.
  var limitedPerDay: Int64 = 20

  /// The configured effect of a rule.
  enum Change: Sendable, Equatable {
    /// The rule never fires.
    case off
    /// The rule has this verdict whenever it fires.
    case verdict(RiskVerdict)

    static let names: [StaticString] = ["off", "allow", "limited", "step-up", "deny"]

    /// Creates the change that `text` names; `nil` if it is not in `names`.
    init?(_ text: Text?) {
      guard let text,
        let place = Change.names.firstIndex(where: { text.utf8[...].elementsEqual($0) })
      else { return nil }
      guard let verdict = RiskVerdict(rawValue: place &- 1) else {
        self = .off
        return
      }
      self = .verdict(verdict)
    }

    var name: StaticString {
      switch self {
      case .off: return "off"
      case .verdict(let verdict): return verdict.name
      }
    }
  }

  func change(of rule: RiskRule) -> Change? { changes.first { $0.rule == rule }?.change }
}

/// The block `risk` of a configuration.
enum RiskBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    var policy = RiskPolicy()
    let block = try policy.readPlain(node)
    if let entry = block["rules"] { policy.changes = try readRules(entry) }
    configuration.risk = policy
  }

  /// Reads the changed rules (RSK-2).
  private static func readRules(
    _ node: MemberNode
  ) throws(Refusal) -> [(rule: RiskRule, change: RiskPolicy.Change)] {
    try require(node.value.kind == .object, .configRiskRules, "RSK-2", at: node.path)
    var changes: [(rule: RiskRule, change: RiskPolicy.Change)] = []
    for entry in try node.members() {
      guard let rule = RiskRule(entry.value.name), let change = RiskPolicy.Change(entry.value.text)
      else { throw entry.refusing(.configRiskRules, "RSK-2").refusal(.range) }
      try require(
        !rule.isFirm || change == .verdict(.deny), .configRiskRules, "RSK-2", at: entry.path,
        detail: "this rule can only be set to deny")
      changes.append((rule, change))
    }
    return changes
  }
}

extension RiskPolicy {
  /// Writes the value of `risk` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .rules:
        writer.name("rules")
        writer.beginObject()
        for rule in RiskRule.allCases {
          if let change = change(of: rule) { writer.member(rule.id, change.name) }
        }
        writer.endObject()
      }
    }
  }
}
