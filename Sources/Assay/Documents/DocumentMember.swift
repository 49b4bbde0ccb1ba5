/// One value inside a document's own JSON, found by path without building a tree. The text is
/// well-formed: this library wrote it, or its reader accepted it.
struct DocumentMember {
  private let json: [UInt8]
  /// The offset of the value's first byte.
  let start: Int
  private let end: Int

  /// Returns the value at a dotted path, in which a decimal step is the index of an array's
  /// element; `nil` if there is none.
  static func find(_ json: [UInt8], _ path: [UInt8]) -> DocumentMember? {
    var scanner = Scanner(json: json)
    for step in path.split(separator: 0x2e, omittingEmptySubsequences: false) {
      guard scanner.enter(step) else { return nil }
    }
    let start = scanner.position
    guard scanner.skipValue() else { return nil }
    return DocumentMember(json: json, start: start, end: scanner.position)
  }

  var integer: Int64? { JSONValue.integer(json[start..<end]) }

  /// The unescaped text of a string; `nil` for other values.
  var text: Text? {
    guard end &- start >= 2, json[start] == 0x22 else { return nil }
    let inner = json[start &+ 1..<end &- 1]
    guard inner.contains(0x5c) else { return Text(Array(inner)) }
    var bytes: [UInt8] = []
    JSONEscapes.resolve(inner) { bytes.append($0) }
    return Text(bytes)
  }

  private struct Scanner {
    let json: [UInt8]
    var position = 0

    private var byte: UInt8 { position < json.count ? json[position] : 0 }

    private mutating func skipSpace() {
      while byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position &+= 1 }
    }

    /// Moves to the value of a member or element. Returns `false` if it does not exist.
    mutating func enter(_ step: ArraySlice<UInt8>) -> Bool {
      let isObject = byte == 0x7b
      guard isObject || byte == 0x5b else { return false }
      let index = isObject ? nil : Scanner.index(step)
      if !isObject, index == nil { return false }
      position &+= 1
      var element: Int64 = 0
      skipSpace()
      while byte != 0x7d, byte != 0x5d, position < json.count {
        if isObject {
          let start = position
          guard skipString() else { return false }
          let name = json[start &+ 1..<position &- 1]
          skipSpace()
          position &+= 1
          skipSpace()
          if matches(name, step) { return true }
        } else if element == index {
          return true
        }
        guard skipValue() else { return false }
        element &+= 1
        skipSpace()
        if byte == 0x2c { position &+= 1 }
        skipSpace()
      }
      return false
    }

    /// Returns an index written in digits without a leading zero; `nil` for anything else.
    private static func index(_ step: ArraySlice<UInt8>) -> Int64? {
      guard let first = step.first, first != 0x2d, first != 0x30 || step.count == 1 else {
        return nil
      }
      return JSONValue.integer(step)
    }

    private func matches(_ name: ArraySlice<UInt8>, _ step: ArraySlice<UInt8>) -> Bool {
      guard name.contains(0x5c) else { return name == step }
      var bytes: [UInt8] = []
      JSONEscapes.resolve(name) { bytes.append($0) }
      return bytes[...] == step
    }

    /// Moves past one value. Returns `false` at the end of the text.
    mutating func skipValue() -> Bool {
      var depth = 0
      repeat {
        switch byte {
        case 0x22:
          guard skipString() else { return false }
        case 0x7b, 0x5b:
          depth += 1
          position &+= 1
        case 0x7d, 0x5d:
          depth -= 1
          position &+= 1
        case 0x2c, 0x3a, 0x20, 0x0a, 0x0d, 0x09: position &+= 1
        case 0: return false
        default: skipScalar()
        }
      } while depth > 0
      return true
    }

    private mutating func skipScalar() {
      while position < json.count {
        switch byte {
        case 0x2c, 0x3a, 0x7d, 0x5d, 0x20, 0x0a, 0x0d, 0x09, 0x00: return
        default: position &+= 1
        }
      }
    }

    private mutating func skipString() -> Bool {
      guard byte == 0x22 else { return false }
      position &+= 1
      while position < json.count {
        switch byte {
        case 0x22:
          position &+= 1
          return true
        case 0x5c: position &+= 2
        default: position &+= 1
        }
      }
      return false
    }
  }
}
