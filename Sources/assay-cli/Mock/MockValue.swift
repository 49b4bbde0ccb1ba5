import AssayAuthority

/// A value of a JSON text that a person wrote for the mock, read strictly.
struct MockValue {
  let json: JSONTree
  private let place: String

  init(_ json: JSONTree, _ place: String) {
    self.json = json
    self.place = place
  }

  private func wanted(_ what: String) -> Problem { Problem("\(Terminal.safe(place)): \(what)") }

  var isText: Bool { json.text != nil }

  var isNull: Bool {
    if case .null = json { return true }
    return false
  }

  func integer(in range: ClosedRange<Int64>) throws -> Int64 {
    guard let number = json.shown.flatMap({ Int64($0) }), range.contains(number) else {
      throw wanted("give \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Returns a date in milliseconds since 1970 UTC.
  func date() throws -> Int64 { try integer(in: MintedValues.dates) }

  func boolean() throws -> Bool {
    guard let value = json.boolean else { throw wanted("give true or false") }
    return value
  }

  func text() throws -> String {
    guard let text = json.text, !text.isEmpty, text.utf8.count <= 65_536,
      text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
    else { throw wanted("give a text without control characters") }
    return text
  }

  /// Returns a text, or a number as it is written.
  func word() throws -> String {
    if let number = json.shown { return number }
    return try text()
  }

  func choice(_ choices: [String]) throws -> String {
    guard let text = json.text, choices.contains(text) else {
      throw wanted("give \(choices.joined(separator: ", "))")
    }
    return text
  }

  func bomb() throws -> MockFault.Encoding {
    _ = try choice(["bomb"])
    return .bomb
  }

  /// Returns the pairs of `[["name","value"],…]`.
  func pairs() throws -> [(name: String, value: String)] {
    guard case .array(let list) = json else { throw wanted("give [[\"name\",\"value\"]]") }
    return try list.map { pair in
      guard pair.elements.count == 2 else { throw wanted("give [[\"name\",\"value\"]]") }
      return (
        try MockValue(pair.elements[0], place).text(), try MockValue(pair.elements[1], place).text()
      )
    }
  }

  /// The bytes of a text, of the base64 in `{"base64":…}`, or of any other value as JSON.
  var octets: [UInt8] {
    if let text = json.text { return Array(text.utf8) }
    if json.members.count == 1, let text = json["base64"]?.text,
      let octets = Base64Text.decodeLeniently(Array(text.utf8))
    {
      return octets
    }
    return json.written.bytes
  }
}

extension JSONTree {
  /// The value as JSON to write.
  var written: JSONText {
    switch self {
    case .object(let members):
      return .object(members.map { JSONText.Member($0.name, $0.value.written) })
    case .array(let elements): return .array(elements.map(\.written))
    case .string(let text): return .string(text)
    case .number(let number): return .text(number)
    case .boolean(let value): return .boolean(value)
    case .null: return .null
    }
  }

  var integer: Int64? { shown.flatMap { Int64($0) } }
}
