/// `refunds`: the policy of the answers to Apple's questions about refunds (RFA-15).
struct RefundPolicy: Sendable {
  /// Whether nothing is sent, and the answer is only reported (RFA-14).
  var isRecording = true
  /// The changes to the table of rules.
  var changes: [(rule: RefundPreferenceRule, effect: RefundEffect)] = []
  /// The rules of the preference that are asked before the others.
  var first: [RefundPreferenceRule] = []
  /// How long after the purchase a grant may still come, in milliseconds.
  var deliverWithinMs: Int64 = 3_600_000
  /// How long before the end of Apple's wait the last answer is sent, in milliseconds (RFA-5).
  var marginMs: Int64 = 1_800_000
  /// The number of refunds, and their share of the purchases in percent, that are too many
  /// (RFA-33).
  var repeatCount: Int64 = 3
  var repeatPercent: Int64 = 50
  /// Whether customers can try a product, by its id (RFA-26).
  var samples: [(product: Text, isProvided: Bool)] = []
  /// When nothing could be delivered, in milliseconds since 1970 UTC (RFA-24).
  var outages: [Range<Int64>] = []
  /// Whether an answer is sent after its time, too (RFA-5).
  var sendsLate = false

  /// The order in which the rules of the preference are asked.
  var order: [RefundPreferenceRule] {
    first + RefundPreferenceRule.allCases.filter { !first.contains($0) }
  }

  func effect(of rule: RefundPreferenceRule) -> RefundEffect {
    changes.first { $0.rule == rule }?.effect ?? rule.standard
  }

  /// Returns a warning if no rule prefers a full refund (RFA-15).
  var warnings: [Warning] {
    let grantsFull = RefundPreferenceRule.allCases.contains { effect(of: $0) == .grantFull }
    return grantsFull ? [] : [Warning("no-full-refund", at: "refunds.rules")]
  }
}

/// The block `refunds` of a configuration.
enum RefundsBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    var policy = RefundPolicy()
    let block = try policy.readPlain(node)
    if let entry = block["rules"] { policy.changes = try readRules(entry) }
    if let entry = block["order"] { policy.first = try readOrder(entry) }
    if let entry = block["samples"] { policy.samples = try readSamples(entry) }
    if let entry = block["outages"] { policy.outages = try readOutages(entry) }
    configuration.refunds = policy
  }

  private static func readRules(
    _ node: MemberNode
  ) throws(Refusal) -> [(rule: RefundPreferenceRule, effect: RefundEffect)] {
    let node = node.refusing(.configRefundsRules, "RFA-15")
    var changes: [(rule: RefundPreferenceRule, effect: RefundEffect)] = []
    for entry in try node.members() {
      guard let rule = RefundPreferenceRule(entry.value.name),
        let effect = RefundEffect(entry.value.text)
      else { throw entry.refusal(.range) }
      // Without its last rule a preference might have none.
      try require(rule != .otherwise || effect != .off, entry)
      changes.append((rule, effect))
    }
    return changes
  }

  private static func readOrder(_ node: MemberNode) throws(Refusal) -> [RefundPreferenceRule] {
    let node = node.refusing(.configRefundsRules, "RFA-15")
    var order: [RefundPreferenceRule] = []
    for entry in try node.elements() {
      guard let rule = RefundPreferenceRule(entry.value.text) else { throw entry.refusal(.range) }
      try require(rule != .otherwise && !order.contains(rule), entry)
      order.append(rule)
    }
    return order
  }

  private static func readSamples(
    _ node: MemberNode
  ) throws(Refusal) -> [(product: Text, isProvided: Bool)] {
    var samples: [(product: Text, isProvided: Bool)] = []
    let entries = try node.members()
    try require(entries.count <= 4096, node)
    for entry in entries { samples.append((entry.value.name, try entry.boolean())) }
    return samples
  }

  private static func readOutages(_ node: MemberNode) throws(Refusal) -> [Range<Int64>] {
    var outages: [Range<Int64>] = []
    for entry in try node.elements(0...100) {
      let span = try entry.object(["fromMs", "untilMs"])
      let from = try span.required("fromMs").integer(0...MemberNode.exactInteger)
      let end = try span.required("untilMs")
      let until = try end.integer(0...MemberNode.exactInteger)
      try require(from < until, end)
      outages.append(from..<until)
    }
    return outages
  }
}

extension RefundPolicy {
  /// Writes the value of `refunds` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .rules:
        writer.name("rules")
        writer.beginObject()
        for rule in RefundPreferenceRule.allCases {
          for change in changes where change.rule == rule {
            writer.member(rule.id, change.effect.name)
          }
        }
        writer.endObject()
      case .order:
        writer.name("order")
        writer.beginArray()
        for rule in first { writer.string(rule.id) }
        writer.endArray()
      case .samples:
        writer.name("samples")
        writer.beginObject()
        for sample in samples {
          writer.name(sample.product)
          writer.boolean(sample.isProvided)
        }
        writer.endObject()
      case .outages:
        writer.name("outages")
        writer.beginArray()
        for outage in outages {
          writer.beginObject()
          writer.member("fromMs", integer: outage.lowerBound)
          writer.member("untilMs", integer: outage.upperBound)
          writer.endObject()
        }
        writer.endArray()
      }
    }
  }
}
