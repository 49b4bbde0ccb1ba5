/// A JSON value as it is written: members keep their order, names may occur twice, and `.raw`
/// replaces a value by any bytes.
public indirect enum JSONText: Sendable {
  case object([Member])
  case array([JSONText])
  case string(String)
  case integer(Int64)
  case boolean(Bool)
  case null
  /// Bytes that are written unchanged: a fraction, an exponent, broken text.
  case raw([UInt8])

  public struct Member: Sendable {
    public var name: String
    public var value: JSONText

    public init(_ name: String, _ value: JSONText) {
      self.name = name
      self.value = value
    }
  }

  /// Returns a value from its JSON text.
  public static func text(_ json: String) -> JSONText { .raw(Array(json.utf8)) }

  /// Returns a string of bytes with only the escapes that JSON requires.
  public static func string(utf8 bytes: [UInt8]) -> JSONText { .raw(JSONText.quoted(bytes)) }

  /// The value as compact JSON.
  public var bytes: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  /// The members of an object; none for any other value.
  public var members: [Member] {
    if case .object(let members) = self { return members }
    return []
  }

  /// Returns the value at a dotted path of names, in which every step is an object.
  public subscript(_ path: String) -> JSONText? {
    let (first, rest) = JSONText.step(path)
    for member in members where member.name == first {
      return rest.isEmpty ? member.value : member.value[rest]
    }
    return nil
  }

  /// Returns a copy in which the member at a dotted path has this value. An existing member keeps
  /// its position; a new one, and every missing object on the path to it, is the last one.
  public func setting(_ path: String, _ value: JSONText) -> JSONText {
    let (first, rest) = JSONText.step(path)
    var changed = members
    let place = changed.firstIndex { $0.name == first }
    let inner = place.map { changed[$0].value } ?? .object([])
    let outcome = rest.isEmpty ? value : inner.setting(rest, value)
    if let place {
      changed[place].value = outcome
    } else {
      changed.append(Member(first, outcome))
    }
    return .object(changed)
  }

  /// Returns a copy with several members set.
  public func setting(_ changes: [(String, JSONText)]) -> JSONText {
    changes.reduce(self) { $0.setting($1.0, $1.1) }
  }

  /// Returns a copy without the member at a dotted path.
  public func removing(_ path: String) -> JSONText {
    let (first, rest) = JSONText.step(path)
    if rest.isEmpty { return .object(members.filter { $0.name != first }) }
    guard let inner = self[first] else { return self }
    return setting(first, inner.removing(rest))
  }

  /// Returns a copy without several members.
  public func removing(_ paths: [String]) -> JSONText {
    paths.reduce(self) { $0.removing($1) }
  }

  /// Returns a copy with one more member at the end, even if the name exists.
  public func appending(_ name: String, _ value: JSONText) -> JSONText {
    .object(members + [Member(name, value)])
  }

  private static func step(_ path: String) -> (first: String, rest: String) {
    guard let dot = path.firstIndex(of: ".") else { return (path, "") }
    return (String(path[..<dot]), String(path[path.index(after: dot)...]))
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .object(let members):
      out.append(UInt8(ascii: "{"))
      for (place, member) in members.enumerated() {
        if place > 0 { out.append(UInt8(ascii: ",")) }
        out += JSONText.quoted(Array(member.name.utf8))
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    case .array(let elements):
      out.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { out.append(UInt8(ascii: ",")) }
        element.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .string(let text): out += JSONText.quoted(Array(text.utf8))
    case .integer(let number): out += Array(String(number).utf8)
    case .boolean(let flag): out += Array((flag ? "true" : "false").utf8)
    case .null: out += Array("null".utf8)
    case .raw(let bytes): out += bytes
    }
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    var out: [UInt8] = [0x22]
    for byte in bytes {
      switch byte {
      case 0x22, 0x5c: out += [0x5c, byte]
      case 0x0a: out += [0x5c, 0x6e]
      case 0x0d: out += [0x5c, 0x72]
      case 0x09: out += [0x5c, 0x74]
      case 0..<0x20:
        out += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: out.append(byte)
      }
    }
    out.append(0x22)
    return out
  }
}

extension JSONText: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONText: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: JSONText...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONText)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
