/// A row as DynamoDB returns it: `{"owner":{"S":"…"},"fencing_token":{"N":"1"}}`. An attribute of
/// another form is never read as absent (STO-4).
struct DynamoItem: Sendable {
  private let attributes: JSONValue

  /// - Throws: `unavailable.database.unexpected-reply`.
  init(_ value: JSONValue) throws(LedgerSuspension) {
    guard value.kind == .object, value.count > 0 else { throw .shape("item") }
    attributes = value
  }

  /// Returns an attribute with its type; `nil` if the row does not have the attribute.
  private func typed(_ name: StaticString) throws(LedgerSuspension) -> JSONValue? {
    guard let attribute = attributes.member(name) else { return nil }
    guard attribute.count == 1 else { throw .shape(Text(stringLiteral: name).string) }
    return attribute
  }

  /// Returns the value of an attribute; `.null` if the row does not have the attribute.
  func value(_ name: StaticString) throws(LedgerSuspension) -> DatabaseValue {
    guard let attribute = try typed(name) else { return .null }
    if let text = attribute.member("S")?.text { return .text(text) }
    if let digits = attribute.member("N")?.text, let number = DynamoItem.number(digits) {
      return .integer(number)
    }
    throw .shape(Text(stringLiteral: name).string)
  }

  /// Reads an integer below 2^53; DynamoDB could store 38 digits. Returns `nil` for any other
  /// number.
  private static func number(_ digits: Text) -> Int64? {
    guard let number = JSONValue.integer(digits.utf8[...]),
      number.magnitude <= MemberNode.exactInteger.magnitude
    else { return nil }
    return number
  }

  func text(_ name: StaticString) throws(LedgerSuspension) -> Text {
    guard case .text(let text) = try value(name) else {
      throw .shape(Text(stringLiteral: name).string)
    }
    return text
  }

  func textIfAny(_ name: StaticString) throws(LedgerSuspension) -> Text? {
    try value(name) == .null ? nil : try text(name)
  }

  func integer(_ name: StaticString) throws(LedgerSuspension) -> Int64 {
    guard case .integer(let number) = try value(name) else {
      throw .shape(Text(stringLiteral: name).string)
    }
    return number
  }

  /// Returns the members of a set; none if the row does not have the set.
  func texts(_ name: StaticString) throws(LedgerSuspension) -> [Text] {
    guard let attribute = try typed(name) else { return [] }
    guard let set = attribute.member("SS"), set.kind == .array else {
      throw .shape(Text(stringLiteral: name).string)
    }
    var texts: [Text] = []
    for member in set.children {
      guard let text = member.text else { throw .shape(Text(stringLiteral: name).string) }
      texts.append(text)
    }
    return texts
  }

  /// Returns the attributes whose names begin with `prefix`: the rest of the name, and the number.
  func numbers(after prefix: StaticString) throws(LedgerSuspension) -> [(name: Text, number: Int64)]
  {
    let prefix = Text(stringLiteral: prefix).utf8
    var found: [(name: Text, number: Int64)] = []
    for attribute in attributes.children {
      let name = attribute.name
      guard name.utf8.starts(with: prefix) else { continue }
      guard attribute.count == 1,
        let digits = attribute.member("N")?.text, let number = DynamoItem.number(digits)
      else { throw .shape(name.string) }
      found.append((Text(Array(name.utf8.dropFirst(prefix.count))), number))
    }
    return found
  }

  /// Returns the values of `columns` in their order, as an SQL engine returns a row.
  func row(_ columns: [StaticString]) throws(LedgerSuspension) -> DatabaseRow {
    var values: [DatabaseValue] = []
    for column in columns { values.append(try value(column)) }
    return DatabaseRow(values, isTyped: true)
  }

  func key() throws(LedgerSuspension) -> DynamoKey { DynamoKey(try text("PK"), try text("SK")) }
}
