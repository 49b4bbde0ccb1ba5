/// One call of the guard script.
struct GuardCall {
  /// A condition on a field of the row.
  enum Test {
    case equal(StaticString, Text)
    case atMost(StaticString, Int64)
    case atLeast(StaticString, Int64)

    /// The words of the condition: operator, field, value.
    fileprivate var words: [Text] {
      switch self {
      case .equal(let field, let text): return ["eq", Text(stringLiteral: field), text]
      case .atMost(let field, let number):
        return ["le", Text(stringLiteral: field), Text(String(number))]
      case .atLeast(let field, let number):
        return ["ge", Text(stringLiteral: field), Text(String(number))]
      }
    }
  }

  let key: Text
  /// The expiry of a row that is written, in milliseconds since 1970 UTC; `nil` to leave it as it
  /// is (STM-22).
  var expireMs: Int64? = nil
  /// The row to create if there is none; empty if none is created. A null is written as empty text.
  var create: DatabaseCall.Arguments = []
  /// The conditions: if one of them fails, nothing is changed.
  var tests: [Test] = []
  var set: DatabaseCall.Arguments = []
  var add: DatabaseCall.Arguments = []

  var call: DatabaseCall {
    let clauses = tests.isEmpty ? [] : [tests.flatMap { $0.words }]
    var arguments: [Text] = [expireMs.map { Text(String($0)) } ?? ""]
    arguments += GuardCall.counted(GuardCall.words(create))
    arguments.append(Text(String(clauses.count)))
    for clause in clauses { arguments += GuardCall.counted(clause) }
    arguments += GuardCall.counted(GuardCall.words(set))
    arguments += GuardCall.counted(GuardCall.words(add))
    return .script(keys: [key], arguments: arguments)
  }

  private static func counted(_ words: [Text]) -> [Text] { [Text(String(words.count))] + words }

  private static func words(_ fields: DatabaseCall.Arguments) -> [Text] {
    fields.flatMap { [Text(stringLiteral: $0.name), text($0.value)] }
  }

  private static func text(_ value: DatabaseValue) -> Text {
    switch value {
    case .text(let text): return text
    case .integer(let number): return Text(String(number))
    case .null: return ""
    }
  }
}
