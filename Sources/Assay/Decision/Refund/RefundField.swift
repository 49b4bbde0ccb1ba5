/// A decided member of an answer, with the rule that decided it (RFA-12).
struct RefundField {
  enum Value {
    case absent
    case boolean(Bool)
    case integer(Int64)
    case word(StaticString)
    case text(Text)

    func write(_ writer: inout JSONWriter) {
      switch self {
      case .absent: writer.null()
      case .boolean(let value): writer.boolean(value)
      case .integer(let value): writer.integer(value)
      case .word(let value): writer.string(value)
      case .text(let value): writer.string(value)
      }
    }
  }

  let name: StaticString
  let value: Value
  let rule: StaticString
  /// The paths of the members that the rule read.
  let inputs: [StaticString]

  /// Whether the member is left out.
  var isAbsent: Bool {
    if case .absent = value { return true }
    return false
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("field", name)
    writer.name("value")
    value.write(&writer)
    writer.member("rule", rule)
    writer.name("inputs")
    writer.beginArray()
    for input in inputs { writer.string(input) }
    writer.endArray()
    writer.endObject()
  }
}
