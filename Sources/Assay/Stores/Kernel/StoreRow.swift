/// One row of an engine's answer, column by column in the order of the statement. What a
/// row does not hold in the expected form is never read as absent (STO-4).
struct StoreRow: Sendable {
  private let values: [StoreValue]
  /// The engine tells numbers from texts.
  private let isTyped: Bool
  private var place = 0

  init(_ values: [StoreValue], isTyped: Bool = false) {
    self.values = values
    self.isTyped = isTyped
  }

  /// - Throws: `unavailable.store.reply-shape`, at the number of the column.
  private mutating func next() throws(StoreStop) -> StoreValue {
    guard place < values.count else { throw .shape("column " + String(place)) }
    // What no column holds stands as this.
    if values[place] == .text("\u{0}") { throw .shape("column " + String(place)) }
    defer { place &+= 1 }
    return values[place]
  }

  mutating func text() throws(StoreStop) -> Text {
    guard let text = try textIfAny() else { throw .shape("column " + String(place &- 1)) }
    return text
  }

  mutating func textIfAny() throws(StoreStop) -> Text? {
    switch try next() {
    case .text(let text): return text
    case .null: return nil
    case .integer: throw .shape("column " + String(place &- 1))
    }
  }

  mutating func integer() throws(StoreStop) -> Int64 {
    guard let number = try integerIfAny() else { throw .shape("column " + String(place &- 1)) }
    return number
  }

  /// Drivers give integers as numbers or as decimal text.
  mutating func integerIfAny() throws(StoreStop) -> Int64? {
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

  /// No column is left.
  func end() throws(StoreStop) {
    guard place == values.count else { throw .shape("column " + String(place)) }
  }
}
