/// A value in a statement or a row: text, an integer, or none (STO-4).
enum DatabaseValue: Equatable, Sendable {
  case text(Text)
  case integer(Int64)
  case null

  init(_ text: Text?) { self = text.map(DatabaseValue.text) ?? .null }
  init(_ number: Int64?) { self = number.map(DatabaseValue.integer) ?? .null }

  /// Creates a value; `nil` if no column can hold `value`.
  init?(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .string:
      guard let text = value.text else { return nil }
      self = .text(text)
    case .number:
      guard let number = value.integer, number.magnitude <= MemberNode.exactInteger.magnitude
      else { return nil }
      self = .integer(number)
    default: return nil
    }
  }

  func write(_ writer: inout JSONWriter) {
    switch self {
    case .text(let text): writer.string(text)
    case .integer(let number): writer.integer(number)
    case .null: writer.null()
    }
  }
}
