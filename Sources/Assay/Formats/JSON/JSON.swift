import CLibCrypto

/// One JSON text that the strict reader accepted, as a flat list of nodes over its bytes. Numbers
/// and strings are parsed on demand: no number of a signed payload ever passes through floating
/// point (JWS-103).
final class JSON: Sendable {
  enum Kind: UInt8, Sendable {
    case null, boolean, number, string, array, object
  }

  /// One value. The children of an array or object follow it in `nodes`; `next` is the index
  /// after them.
  struct Node: Sendable {
    var kind = Kind.null
    /// Whether the string contains escapes; `nameEscaped` is the same for the member name.
    var escaped = false
    var nameEscaped = false
    /// Whether duplicate names of this object are searched when it ends.
    var comparesLater = false
    /// Offsets of the value: of a string without its quotation marks, of a container with its
    /// brackets.
    var start: Int32 = 0
    var end: Int32 = 0
    var next: Int32 = 0
    var count: Int32 = 0
    /// Offsets of the member name without quotation marks; both 0 for other values.
    var nameStart: Int32 = 0
    var nameEnd: Int32 = 0
    var nameHash: UInt32 = 0

    var nameRange: Range<Int> {
      nameStart < nameEnd ? Int(nameStart)..<Int(nameEnd) : 0..<0
    }
  }

  let bytes: [UInt8]
  let nodes: [Node]

  init(bytes: [UInt8], nodes: [Node]) {
    self.bytes = bytes
    self.nodes = nodes
  }

  /// The value that is the whole text.
  var root: JSONValue { JSONValue(json: self, index: 0) }

  /// Returns the FNV-1a hash of a name, equal to `Node.nameHash`. Equal hashes select candidates
  /// only; the names are compared afterwards.
  static func hash(_ name: StaticString) -> UInt32 {
    name.withUTF8Buffer { unsafe $0.reduce(hashStart) { hash($0, $1) } }
  }

  static let hashStart: UInt32 = 2_166_136_261

  @inline(__always)
  static func hash(_ state: UInt32, _ byte: UInt8) -> UInt32 {
    (state ^ UInt32(byte)) &* 16_777_619
  }
}

/// One value of a JSON text.
struct JSONValue: Sendable {
  let json: JSON
  let index: Int

  private var node: JSON.Node? {
    index >= 0 && index < json.nodes.count ? json.nodes[index] : nil
  }

  var kind: JSON.Kind { node?.kind ?? .null }
  var isNull: Bool { kind == .null }
  /// Number of members of an object or elements of an array.
  var count: Int { Int(node?.count ?? 0) }

  /// The text of the value as written; strings without quotation marks.
  var source: ArraySlice<UInt8> {
    guard let node else { return [] }
    return json.slice(node.start, node.end)
  }

  /// Returns the member with this name; `nil` if there is none. Names are compared byte for byte
  /// after unescaping.
  func member(_ name: StaticString) -> JSONValue? {
    guard let node, node.count > 0 else { return nil }
    let hash = JSON.hash(name)
    // Iterates over nodes instead of children, because evidence is searched for dozens of names.
    var position = index &+ 1
    while position < Int(node.next), position < json.nodes.count {
      if json.nodes[position].nameHash == hash {
        let child = JSONValue(json: json, index: position)
        if child.isNamed(name) { return child }
      }
      position = Int(json.nodes[position].next)
    }
    return nil
  }

  /// Returns the member with this name; `nil` if it is absent or `null` (PAY-3).
  func present(_ name: StaticString) -> JSONValue? {
    guard let value = member(name), !value.isNull else { return nil }
    return value
  }

  /// The children of an array or object in their order; empty for other values.
  var children: Children { Children(json: json, parent: index) }

  struct Children: Sequence, IteratorProtocol {
    private let json: JSON
    private var position: Int
    private let end: Int

    init(json: JSON, parent: Int) {
      self.json = json
      if parent >= 0, parent < json.nodes.count, json.nodes[parent].count > 0 {
        position = parent + 1
        end = Int(json.nodes[parent].next)
      } else {
        position = 0
        end = 0
      }
    }

    mutating func next() -> JSONValue? {
      guard position < end, position < json.nodes.count else { return nil }
      defer { position = Int(json.nodes[position].next) }
      return JSONValue(json: json, index: position)
    }
  }

  /// The value's member name, unescaped; empty for array elements.
  var name: Text {
    guard let node else { return "" }
    return Text(json.unescape(node.nameStart, node.nameEnd, node.nameEscaped))
  }

  var nameHash: UInt32 { node?.nameHash ?? 0 }

  func isNamed(_ name: StaticString) -> Bool {
    guard let node else { return false }
    if node.nameEscaped { return json.unescapes(node.nameRange, to: name) }
    return json.slice(node.nameStart, node.nameEnd).elementsEqual(name)
  }

  /// The text of a string, unescaped; `nil` for other kinds.
  var text: Text? {
    guard let node, node.kind == .string else { return nil }
    return Text(json.unescape(node.start, node.end, node.escaped))
  }

  /// Whether this is a string that equals `literal` after unescaping.
  @inline(never)
  func isText(_ literal: StaticString) -> Bool {
    guard let node, node.kind == .string else { return false }
    if node.escaped { return text?.utf8[...].elementsEqual(literal) == true }
    return source.elementsEqual(literal)
  }

  var boolean: Bool? {
    guard kind == .boolean else { return nil }
    return source.first == 0x74
  }

  /// A number without fraction and exponent that fits; `nil` for every other value.
  var integer: Int64? {
    guard kind == .number else { return nil }
    return JSONValue.integer(source)
  }

  /// A number's integer part, with the fraction dropped; an exponent shifts the decimal point.
  /// `nil` if the result does not fit (JWS-81).
  var truncated: Int64? {
    guard kind == .number else { return nil }
    return DecimalText(source).truncated
  }

  static func integer(_ digits: ArraySlice<UInt8>) -> Int64? {
    var rest = digits
    let negative = rest.first == 0x2d
    if negative { rest = rest.dropFirst() }
    guard !rest.isEmpty else { return nil }
    var value: Int64 = 0
    for digit in rest {
      guard digit >= 0x30, digit <= 0x39 else { return nil }
      let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
      let (sum, carried) = tens.subtractingReportingOverflow(Int64(digit &- 0x30))
      guard !overflowed, !carried else { return nil }
      value = sum
    }
    if negative { return value }
    return value == Int64.min ? nil : 0 &- value
  }
}

extension StaticString {
  /// Whether the two literals have the same bytes.
  func hasSameBytes(as other: StaticString) -> Bool {
    withUTF8Buffer { mine in
      other.withUTF8Buffer { unsafe haveSameBytes(UnsafeRawBufferPointer(mine), $0) }
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether the slice has the bytes of `literal`.
  func elementsEqual(_ literal: StaticString) -> Bool {
    literal.withUTF8Buffer { theirs in
      unsafe withUnsafeBytes { unsafe haveSameBytes($0, theirs) }
    }
  }
}

private func haveSameBytes(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeBufferPointer<UInt8>
) -> Bool {
  guard left.count == right.count else { return false }
  guard let mine = left.baseAddress, let theirs = right.baseAddress else { return true }
  return unsafe memcmp(mine, theirs, right.count) == 0
}

extension JSON {
  /// Returns the bytes between two offsets; empty if they are out of range.
  func slice(_ start: Int32, _ end: Int32) -> ArraySlice<UInt8> {
    guard start >= 0, start <= end, end <= bytes.count else { return [] }
    return bytes[Int(start)..<Int(end)]
  }

  /// Whether the text at `range` equals `literal` after unescaping.
  fileprivate func unescapes(_ range: Range<Int>, to literal: StaticString) -> Bool {
    let source = bytes
    let text = source.span
    var unescaped = JSONUnescaped(range)
    var at = 0
    while let byte = unescaped.next(in: text) {
      guard at < literal.utf8CodeUnitCount, unsafe literal.utf8Start[at] == byte else {
        return false
      }
      at &+= 1
    }
    return at == literal.utf8CodeUnitCount
  }

  /// Returns a string's bytes with escapes resolved. The reader has validated the escapes.
  func unescape(_ start: Int32, _ end: Int32, _ escaped: Bool) -> [UInt8] {
    let source = slice(start, end)
    guard escaped else { return Array(source) }
    var text: [UInt8] = []
    text.reserveCapacity(source.count)
    JSONEscapes.resolve(source) { text.append($0) }
    return text
  }
}

/// A JSON number's text, parsed without floating point.
private struct DecimalText {
  let truncated: Int64?

  init(_ text: ArraySlice<UInt8>) {
    var negative = false
    var digits: [UInt8] = []
    var point: Int? = nil
    var exponent = 0
    var exponentNegative = false
    var inExponent = false
    for byte in text {
      switch byte {
      case 0x2d: if inExponent { exponentNegative = true } else { negative = true }
      case 0x2e: point = digits.count
      case 0x45, 0x65: inExponent = true
      case 0x30...0x39:
        if inExponent {
          exponent = Swift.min(exponent &* 10 &+ Int(byte &- 0x30), 9999)
        } else {
          digits.append(byte)
        }
      default: break
      }
    }
    // Number of digits of the integer part; if the text has fewer, zeros follow.
    let whole = (point ?? digits.count) &+ (exponentNegative ? 0 &- exponent : exponent)
    var kept = whole <= 0 ? [] : Array(digits.prefix(whole))
    let isZero = kept.allSatisfy { $0 == 0x30 }
    if isZero {
      truncated = 0
      return
    }
    guard whole <= 40 else {
      truncated = nil
      return
    }
    while kept.count < whole { kept.append(0x30) }
    truncated = JSONValue.integer((negative ? [0x2d] + kept : kept)[...])
  }
}

extension JSONValue {
  /// The string with its quotation marks, as signed; empty for other kinds.
  var quotedSource: ArraySlice<UInt8> {
    let inner = source
    guard kind == .string, inner.startIndex > 0, inner.endIndex < json.bytes.count else {
      return json.slice(0, 0)
    }
    return json.bytes[inner.startIndex &- 1..<inner.endIndex &+ 1]
  }
}
