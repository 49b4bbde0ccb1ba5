/// The reply of the guard script: what it changed, and the whole row afterwards.
struct GuardReply {
  enum Change: Equatable { case none, created, changed }

  let change: Change
  private let fields: [(name: Text, value: DatabaseValue)]

  /// - Throws: `unavailable.database.unexpected-reply`.
  init(_ values: [DatabaseValue]) throws(LedgerSuspension) {
    guard let first = values.first, values.count % 2 == 1 else { throw .shape("reply") }
    var flag = DatabaseRow([first])
    switch try flag.integer() {
    case 0: change = .none
    case 1: change = .created
    case 2: change = .changed
    default: throw .shape("reply[0]")
    }
    var fields: [(name: Text, value: DatabaseValue)] = []
    for place in stride(from: 1, to: values.count, by: 2) {
      guard case .text(let name) = values[place], values[place &+ 1] != .null,
        !fields.contains(where: { $0.name == name })
      else { throw .shape("reply[" + String(place) + "]") }
      fields.append((name, values[place &+ 1]))
    }
    self.fields = fields
    guard change == .none || !fields.isEmpty else { throw .shape("reply") }
  }

  var isAbsent: Bool { fields.isEmpty }

  /// Returns the values of `columns` in their order, as an SQL engine returns a row; empty text is
  /// null. A row without one of the columns is refused.
  func row(_ columns: [StaticString]) throws(LedgerSuspension) -> DatabaseRow {
    var values: [DatabaseValue] = []
    for column in columns {
      let field = fields.first { $0.name.utf8[...].elementsEqual(column) }
      guard let field else { throw .shape(Text(stringLiteral: column).string) }
      values.append(field.value == .text("") ? .null : field.value)
    }
    return DatabaseRow(values)
  }
}
