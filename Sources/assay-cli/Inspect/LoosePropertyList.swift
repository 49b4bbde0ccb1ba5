/// An old-style property list, read leniently: for display, never for verification.
struct LoosePropertyList {
  private(set) var entries: [(key: String, value: [UInt8])] = []
  /// The byte offset at which reading ended early; `nil` if the whole text was read.
  private(set) var brokenAt: Int?

  /// Reads a property list; `nil` if the text does not begin as a list of `key = value;` pairs.
  init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    guard reader.pass("{") else { return nil }
    while !reader.pass("}") {
      guard let key = reader.string(), reader.pass("="), let value = reader.string(),
        reader.pass(";")
      else {
        brokenAt = reader.position
        break
      }
      entries.append((String(decoding: key, as: UTF8.self), value))
    }
    if entries.isEmpty, brokenAt != nil { return nil }
  }

  func value(_ key: String) -> [UInt8]? { entries.first { $0.key == key }?.value }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    private mutating func skipSpace() {
      while position < bytes.count, bytes[position] == 0x20 || 9...13 ~= bytes[position] {
        position += 1
      }
    }

    mutating func pass(_ character: Unicode.Scalar) -> Bool {
      skipSpace()
      guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
        return false
      }
      position += 1
      return true
    }

    mutating func string() -> [UInt8]? {
      if pass("\"") { return quoted(0x22) }
      if pass("'") { return quoted(0x27) }
      let start = position
      while position < bytes.count, !" \t\r\n=;{}\"'".utf8.contains(bytes[position]) {
        position += 1
      }
      return position > start ? Array(bytes[start..<position]) : nil
    }

    private mutating func quoted(_ end: UInt8) -> [UInt8]? {
      var text: [UInt8] = []
      while position < bytes.count {
        let byte = bytes[position]
        position += 1
        if byte == end { return text }
        text.append(byte)
        if byte == 0x5c, position < bytes.count {
          text.append(bytes[position])
          position += 1
        }
      }
      return nil
    }
  }
}
