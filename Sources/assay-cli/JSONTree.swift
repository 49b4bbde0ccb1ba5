/// A JSON value for display, read by `JSONCursor`: numbers keep the text in which they were
/// written. Never passed to code that decides.
indirect enum JSONTree {
  case object([Member])
  case array([JSONTree])
  case string(String)
  /// A number's text: `-12.5e+3`.
  case number(String)
  case boolean(Bool)
  case null

  struct Member {
    let name: String
    let value: JSONTree
  }

  /// Reads one JSON value; `nil` if the text is none in UTF-8, or is nested too deeply.
  init?(_ json: [UInt8]) {
    guard String(validating: json, as: UTF8.self) != nil else { return nil }
    var cursor = JSONCursor(json)
    cursor.skipSpace()
    guard let value = JSONTree.read(&cursor, depth: 0) else { return nil }
    cursor.skipSpace()
    guard cursor.isAtEnd else { return nil }
    self = value
  }

  /// Returns the first member of that name of an object.
  subscript(_ name: String) -> JSONTree? {
    members.first { $0.name == name }?.value
  }

  /// The members of an object in their order; empty for any other value.
  var members: [Member] {
    if case .object(let members) = self { return members }
    return []
  }

  /// The members of an object, sorted by name.
  var sortedMembers: [Member] { members.sorted { $0.name < $1.name } }

  var elements: [JSONTree] {
    if case .array(let elements) = self { return elements }
    return []
  }

  var text: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  var boolean: Bool? {
    if case .boolean(let value) = self { return value }
    return nil
  }

  /// The text of a number as it was written; `nil` for any other value.
  var shown: String? {
    if case .number(let number) = self { return number }
    return nil
  }

  private static let depth = 64

  private static func read(_ cursor: inout JSONCursor, depth: Int) -> JSONTree? {
    guard depth < JSONTree.depth else { return nil }
    switch cursor.byte {
    case 0x22: return cursor.string().map { .string(text(cursor, $0)) }
    case 0x7b:
      var members: [Member] = []
      let isWhole = cursor.members { cursor, name in
        guard let value = read(&cursor, depth: depth + 1) else { return false }
        members.append(Member(name: text(cursor, name), value: value))
        return true
      }
      return isWhole ? .object(members) : nil
    case 0x5b:
      var elements: [JSONTree] = []
      let isWhole = cursor.elements { cursor in
        guard let value = read(&cursor, depth: depth + 1) else { return false }
        elements.append(value)
        return true
      }
      return isWhole ? .array(elements) : nil
    case 0x74: return cursor.skipValue() ? .boolean(true) : nil
    case 0x66: return cursor.skipValue() ? .boolean(false) : nil
    case 0x6e: return cursor.skipValue() ? .null : nil
    default:
      return cursor.number().map { .number(String(decoding: cursor.bytes($0), as: UTF8.self)) }
    }
  }

  private static func text(_ cursor: JSONCursor, _ string: JSONCursor.RawString) -> String {
    String(decoding: cursor.text(string), as: UTF8.self)
  }
}
