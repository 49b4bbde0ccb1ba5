/// What a reader of members refuses with: named once, by the code that knows what
/// the text is. A class, as every node carries it.
final class MemberRefusals: Sendable {
  /// nil: what the reader of JSON found, by its own name.
  private let syntax: Status?
  private let unknown: Status
  private let type: Status
  private let range: Status
  private let missing: Status
  private let rule: StaticString
  private let unknownRule: StaticString

  init(
    syntax: Status?, unknown: Status, type: Status, range: Status, missing: Status,
    _ rule: StaticString, unknownRule: StaticString? = nil
  ) {
    self.syntax = syntax
    self.unknown = unknown
    self.type = type
    self.range = range
    self.missing = missing
    self.rule = rule
    self.unknownRule = unknownRule ?? rule
  }

  /// One status for everything.
  convenience init(_ status: Status, _ rule: StaticString) {
    self.init(
      syntax: status, unknown: status, type: status, range: status, missing: status, rule)
  }

  /// The same, except for values of the wrong form, for which an area has its own status.
  func form(_ status: Status, _ rule: StaticString) -> MemberRefusals {
    MemberRefusals(
      syntax: syntax, unknown: unknown, type: status, range: status, missing: status, rule,
      unknownRule: unknownRule)
  }

  /// A text that the strict reader did not take.
  func refusal(_ fault: JSONFault) -> Refusal {
    let place = "byte " + String(fault.offset)
    guard let syntax else { return Refusal(fault.status, rule, at: place) }
    return Refusal(syntax, rule, at: place, detail: Text(stringLiteral: fault.status.name).string)
  }

  func refusal(
    _ fault: MemberFault, at place: String, detail: String = "", hint: Explanation? = nil
  ) -> Refusal {
    switch fault {
    case .unknown: return Refusal(unknown, unknownRule, at: place, detail: detail, hint: hint)
    case .type: return Refusal(type, rule, at: place, detail: detail, hint: hint)
    case .range: return Refusal(range, rule, at: place, detail: detail, hint: hint)
    case .missing: return Refusal(missing, rule, at: place, detail: detail, hint: hint)
    }
  }
}
