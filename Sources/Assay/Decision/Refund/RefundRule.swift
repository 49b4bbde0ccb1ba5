/// One row of the table of rules (docs/spec/refund-answers.md §3).
struct RefundRule<Value: Sendable>: Sendable {
  /// Whether the rule matches.
  typealias Condition = @Sendable (RefundFacts) -> Bool

  /// The id, such as "RFA-20"; rows of one rule follow each other.
  let id: StaticString
  /// The paths of the members of request and configuration that the row reads.
  let inputs: [StaticString]
  /// The condition; `nil` for a row that decides if none above it does.
  let condition: Condition?
  let value: @Sendable (RefundFacts) -> Value

  init(
    _ id: StaticString, _ inputs: [StaticString], when condition: Condition?,
    _ value: @escaping @Sendable (RefundFacts) -> Value
  ) {
    self.id = id
    self.inputs = inputs
    self.condition = condition
    self.value = value
  }
}
