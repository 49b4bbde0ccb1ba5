/// A value that a rule decided, with the rule and what it read.
struct RefundChoice<Value> {
  let value: Value
  let rule: StaticString
  let inputs: [StaticString]

  /// Returns another value that the same rule decided.
  func giving<Other>(_ value: Other) -> RefundChoice<Other> {
    RefundChoice<Other>(value: value, rule: rule, inputs: inputs)
  }
}
