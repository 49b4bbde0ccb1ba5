/// What an answer says, and by which rules: all that is stored of it (RFA-50).
struct RefundSaid: Sendable {
  /// The rules that decided the answer, then delivery, percentage and preference, joined by spaces.
  let rules: Text
  /// Apple's words, also for an answer that has Apple's numbers.
  var delivery: Text? = nil
  /// Thousandths of a percent.
  var percentage: Int64? = nil
  var preference: Text? = nil

  /// Creates what a row has; `nil` for a row without rules.
  init?(
    rules: Text?, delivery: Text?, percentage: Int64?, preference: Text?
  ) {
    guard let rules else { return nil }
    self.rules = rules
    self.delivery = delivery
    self.percentage = percentage
    self.preference = preference
  }

  /// The members of Apple's body that are kept, in the order of their rules. The others are not:
  /// they tell of the account.
  private static let kept: [StaticString] = [
    "answer", "deliveryStatus", "consumptionPercentage", "consumptionStatus", "refundPreference",
  ]
  /// The largest number of fields in an answer, and of bytes in the id of a rule.
  private static let fieldCap = 32
  private static let ruleCap = 16

  /// Reads `fields` of an answer.
  ///
  /// - Throws: the node's refusal.
  init(_ fields: MemberNode) throws(Refusal) {
    var rules: [UInt8] = []
    for node in try fields.elements(1...Self.fieldCap) {
      let field = try node.object(["field", "value", "rule", "inputs"])
      let name = try field.required("field").text(1...64)
      let node = try field.required("rule")
      let rule = try node.text(1...Self.ruleCap)
      try require(rule.utf8.allSatisfy(RefundSaid.isOfRule), node)
      guard let place = Self.kept.firstIndex(where: { name.utf8[...].elementsEqual($0) }) else {
        continue
      }
      rules += (rules.isEmpty ? [] : [0x20]) + rule.utf8
      guard let value = field.present("value") else { continue }
      switch place {
      case 1: delivery = try RefundSaid.delivery(value)
      case 2: percentage = try value.integer(0...RefundUsage.full)
      case 4: preference = try RefundSaid.preference(value)
      default: break
      }
    }
    // Five fields of 16 bytes at most; a field that stands twice would be longer.
    try require((1...80).contains(rules.count), fields)
    self.rules = Text(rules)
  }

  /// Whether the byte is a capital letter, a digit or `-`.
  private static func isOfRule(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || byte == 0x2d
  }

  private static func delivery(_ node: MemberNode) throws(Refusal) -> Text {
    let all = RefundDelivery.words.indices.compactMap { RefundDelivery(rawValue: $0) }
    if node.value.kind == .number {
      let number = try node.integer(0...5)
      guard let found = all.first(where: { $0.number == number }) else {
        throw node.refusal(.range)
      }
      return Text(stringLiteral: found.name)
    }
    return Text(stringLiteral: all[try node.choice(all.map { $0.name })].name)
  }

  /// Returns Apple's word; `nil` for 0, no preference.
  private static func preference(_ node: MemberNode) throws(Refusal) -> Text? {
    let all: [RefundEffect] = [.decline, .grantFull, .grantProrated]
    if node.value.kind == .number {
      let number = try node.integer(0...3)
      return all.first { $0.number == number }.map { Text(stringLiteral: $0.name) }
    }
    return Text(stringLiteral: all[try node.choice(all.map { $0.name })].name)
  }
}
