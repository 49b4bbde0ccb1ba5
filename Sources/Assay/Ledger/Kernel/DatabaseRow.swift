/// One row of an engine's reply, read column by column in the order of the statement. A value of
/// an unexpected form is refused, never read as absent (STO-4).
struct DatabaseRow: Sendable {
  private let values: [DatabaseValue]
  /// Whether the engine returns integers as numbers, so that text is never parsed as one.
  private let isTyped: Bool
  private var place = 0

  init(_ values: [DatabaseValue], isTyped: Bool = false) {
    self.values = values
    self.isTyped = isTyped
  }

  /// - Throws: `unavailable.database.unexpected-reply`, at the number of the column.
  private mutating func next() throws(LedgerSuspension) -> DatabaseValue {
    guard place < values.count else { throw .shape("column " + String(place)) }
    // U+0000 marks a value that no column can hold.
    if values[place] == .text("\u{0}") { throw .shape("column " + String(place)) }
    defer { place &+= 1 }
    return values[place]
  }

  mutating func text() throws(LedgerSuspension) -> Text {
    guard let text = try textIfAny() else { throw .shape("column " + String(place &- 1)) }
    return text
  }

  mutating func textIfAny() throws(LedgerSuspension) -> Text? {
    switch try next() {
    case .text(let text): return text
    case .null: return nil
    case .integer: throw .shape("column " + String(place &- 1))
    }
  }

  mutating func integer() throws(LedgerSuspension) -> Int64 {
    guard let number = try integerIfAny() else { throw .shape("column " + String(place &- 1)) }
    return number
  }

  /// Reads an integer, which drivers return as a number or as decimal text; `nil` if it is null.
  mutating func integerIfAny() throws(LedgerSuspension) -> Int64? {
    switch try next() {
    case .integer(let number): return number
    case .null: return nil
    case .text(let text):
      guard !isTyped, let number = JSONValue.integer(text.utf8[...]),
        number.magnitude <= MemberNode.exactInteger.magnitude
      else { throw .shape("column " + String(place &- 1)) }
      return number
    }
  }

  /// Returns the text of the row's only column.
  func onlyText() throws(LedgerSuspension) -> Text {
    var row = self
    let text = try row.text()
    try row.end()
    return text
  }

  /// Requires that all columns were read.
  func end() throws(LedgerSuspension) {
    guard place == values.count else { throw .shape("column " + String(place)) }
  }
}
