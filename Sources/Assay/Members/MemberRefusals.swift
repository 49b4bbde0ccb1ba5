/// The statuses with which a reader of members refuses, set once by the code that knows what the
/// text is. A class, because every node has a reference to one.
final class MemberRefusals: Sendable {
  /// Returns the detail of a refusal from the fault, the path and the refused value; may be
  /// empty. It must not keep the text of a value that may be a secret.
  typealias Advice = @Sendable (MemberFault, String, JSONValue) -> String

  /// The status of a JSON syntax fault; `nil` if each fault has its own status.
  private let syntax: Status?
  private let unknown: Status
  private let type: Status
  private let range: Status
  private let missing: Status
  private let rule: StaticString
  private let unknownRule: StaticString
  private let advice: Advice?

  init(
    syntax: Status?, unknown: Status, type: Status, range: Status, missing: Status,
    _ rule: StaticString, unknownRule: StaticString? = nil, advice: Advice? = nil
  ) {
    self.syntax = syntax
    self.unknown = unknown
    self.type = type
    self.range = range
    self.missing = missing
    self.rule = rule
    self.unknownRule = unknownRule ?? rule
    self.advice = advice
  }

  /// Creates refusals that have one status for every fault.
  convenience init(_ status: Status, _ rule: StaticString) {
    self.init(
      syntax: status, unknown: status, type: status, range: status, missing: status, rule)
  }

  /// Returns these refusals with an area's own status for a wrong type, a value out of range and
  /// a missing member.
  func form(_ status: Status, _ rule: StaticString) -> MemberRefusals {
    MemberRefusals(
      syntax: syntax, unknown: unknown, type: status, range: status, missing: status, rule,
      unknownRule: unknownRule, advice: advice)
  }

  /// Returns the refusal of a text that is not strict JSON.
  func refusal(_ fault: JSONFault) -> Refusal {
    let place = "byte " + String(fault.offset)
    guard let syntax else { return Refusal(fault.status, rule, at: place) }
    return Refusal(syntax, rule, at: place, detail: Text(stringLiteral: fault.status.name).string)
  }

  /// Returns the refusal of `value`, which is at `place`.
  func refusal(
    _ fault: MemberFault, of value: JSONValue, at place: String, detail: String
  ) -> Refusal {
    guard detail.isEmpty, let advice else { return refusal(fault, at: place, detail: detail) }
    return refusal(fault, at: place, detail: advice(fault, place, value))
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
