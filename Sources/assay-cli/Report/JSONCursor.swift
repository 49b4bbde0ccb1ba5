/// Moves through JSON text without copying. It checks the grammar of RFC 8259 of everything it
/// passes, builds nothing, and reads nothing beyond `end`.
struct JSONCursor {
  private let json: [UInt8]
  private(set) var position = 0
  private var end = 0

  /// The deepest nesting; a request log has no deeper JSON.
  private static let depth = 64

  init(_ json: [UInt8]) {
    self.json = json
    end = json.count
  }

  /// A string as written between its quotes.
  struct RawString {
    let range: Range<Int>
    let hasEscapes: Bool
  }

  /// Restricts the cursor to another part of the text.
  mutating func enter(_ range: Range<Int>) {
    position = range.lowerBound
    end = min(range.upperBound, json.count)
  }

  /// The byte at the position; 0 at the end, which JSON never contains.
  var byte: UInt8 { position < end ? json[position] : 0 }

  var isAtEnd: Bool { position >= end }

  mutating func skipSpace() {
    while position < end {
      switch json[position] {
      case 0x20, 0x09, 0x0a, 0x0d: position += 1
      default: return
      }
    }
  }

  /// Passes that byte and the space after it. Returns whether it was there.
  mutating func pass(_ wanted: UInt8) -> Bool {
    guard byte == wanted else { return false }
    position += 1
    skipSpace()
    return true
  }

  // MARK: objects and arrays

  /// Visits the members of the object at the position, in order. `visit` must move past the
  /// member's value, by `skipValue` if it ignores the value. Returns false if the text is not an
  /// object or `visit` returns false.
  mutating func members(_ visit: (inout JSONCursor, RawString) -> Bool) -> Bool {
    guard pass(0x7b) else { return false }
    if pass(0x7d) { return true }
    repeat {
      guard let name = string() else { return false }
      skipSpace()
      guard pass(0x3a), visit(&self, name) else { return false }
      skipSpace()
    } while pass(0x2c)
    return pass(0x7d)
  }

  /// Visits the elements of the array at the position, as `members` visits members.
  mutating func elements(_ visit: (inout JSONCursor) -> Bool) -> Bool {
    guard pass(0x5b) else { return false }
    if pass(0x5d) { return true }
    repeat {
      guard visit(&self) else { return false }
      skipSpace()
    } while pass(0x2c)
    return pass(0x5d)
  }

  /// Moves past one value of any kind. Returns false if it is not JSON.
  mutating func skipValue(depth: Int = 0) -> Bool {
    guard depth < JSONCursor.depth else { return false }
    switch byte {
    case 0x22: return string() != nil
    case 0x7b: return members { cursor, _ in cursor.skipValue(depth: depth + 1) }
    case 0x5b: return elements { $0.skipValue(depth: depth + 1) }
    case 0x74: return literal("true")
    case 0x66: return literal("false")
    case 0x6e: return literal("null")
    default: return number() != nil
    }
  }

  // MARK: scalars

  private mutating func literal(_ word: StaticString) -> Bool {
    for offset in 0..<word.utf8CodeUnitCount {
      let wanted = unsafe word.utf8Start[offset]
      guard byte == wanted else { return false }
      position += 1
    }
    return true
  }

  /// Reads a number's text: `-12.5e+3`.
  mutating func number() -> Range<Int>? {
    let start = position
    if byte == 0x2d { position += 1 }
    if byte == 0x30 {
      position += 1
    } else if !digits() {
      return nil
    }
    if byte == 0x2e {
      position += 1
      guard digits() else { return nil }
    }
    if byte == 0x65 || byte == 0x45 {
      position += 1
      if byte == 0x2b || byte == 0x2d { position += 1 }
      guard digits() else { return nil }
    }
    return start..<position
  }

  private mutating func digits() -> Bool {
    let start = position
    while byte >= 0x30, byte <= 0x39 { position += 1 }
    return position > start
  }

  /// Reads a string's content; `nil` if it does not end, or contains what JSON forbids.
  mutating func string() -> RawString? {
    guard byte == 0x22 else { return nil }
    position += 1
    let start = position
    var hasEscapes = false
    while true {
      position = plainEnd(from: position)
      guard position < end else { return nil }
      switch json[position] {
      case 0x22:
        position += 1
        return RawString(range: start..<position - 1, hasEscapes: hasEscapes)
      case 0x5c:
        guard escape() else { return nil }
        hasEscapes = true
      default: return nil
      }
    }
  }

  private mutating func escape() -> Bool {
    position += 1
    switch byte {
    case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74:
      position += 1
      return true
    case 0x75:
      position += 1
      for _ in 0..<4 {
        guard JSONCursor.hexValue(byte) != nil else { return false }
        position += 1
      }
      return true
    default: return false
    }
  }

  /// Returns the end of a run of ordinary characters: a quote, a backslash, a control character or
  /// the end. Checks eight bytes at once, because receipts are long.
  private func plainEnd(from start: Int) -> Int {
    unsafe json.withUnsafeBytes { bytes in
      var at = start
      while at + 8 <= end {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        let found =
          JSONCursor.zeroBytes(word ^ 0x2222_2222_2222_2222)
          | JSONCursor.zeroBytes(word ^ 0x5c5c_5c5c_5c5c_5c5c)
          | ((word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080)
        if found != 0 { return at + found.trailingZeroBitCount / 8 }
        at += 8
      }
      while at < end {
        let byte = unsafe bytes[at]
        if byte == 0x22 || byte == 0x5c || byte < 0x20 { break }
        at += 1
      }
      return at
    }
  }

  /// Sets the highest bit of the lowest byte that is zero, and possibly of bytes above it.
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }

  // MARK: what was found

  /// Whether a string is this name. A name written with escapes matches none.
  func matches(_ string: RawString, _ name: [UInt8]) -> Bool {
    guard !string.hasEscapes, string.range.count == name.count else { return false }
    var at = string.range.lowerBound
    for byte in name {
      if json[at] != byte { return false }
      at += 1
    }
    return true
  }

  func bytes(_ range: Range<Int>) -> ArraySlice<UInt8> { json[range] }

  /// Returns the text of a string with its escapes resolved, as UTF-8. Half a surrogate pair
  /// becomes U+FFFD.
  func text(_ string: RawString) -> [UInt8] {
    guard string.hasEscapes else { return Array(json[string.range]) }
    var out: [UInt8] = []
    out.reserveCapacity(string.range.count)
    var at = string.range.lowerBound
    while at < string.range.upperBound {
      let byte = json[at]
      if byte == 0x5c {
        at = resolve(at, string.range.upperBound, &out)
      } else {
        out.append(byte)
        at += 1
      }
    }
    return out
  }

  /// Appends what the escape at `at` means, and returns the position after it.
  private func resolve(_ at: Int, _ end: Int, _ out: inout [UInt8]) -> Int {
    switch json[at + 1] {
    case 0x62: out.append(0x08)
    case 0x66: out.append(0x0c)
    case 0x6e: out.append(0x0a)
    case 0x72: out.append(0x0d)
    case 0x74: out.append(0x09)
    case 0x75: return resolveUnicode(at, end, &out)
    default: out.append(json[at + 1])
    }
    return at + 2
  }

  private func resolveUnicode(_ at: Int, _ end: Int, _ out: inout [UInt8]) -> Int {
    var value = codeUnit(at)
    var next = at + 6
    if value & 0xfc00 == 0xd800, next + 6 <= end, json[next] == 0x5c, json[next + 1] == 0x75 {
      let low = codeUnit(next)
      if low & 0xfc00 == 0xdc00 {
        value = 0x10000 + (value & 0x3ff) << 10 + (low & 0x3ff)
        next += 6
      }
    }
    let scalar = Unicode.Scalar(value) ?? "\u{fffd}"
    out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    return next
  }

  /// Returns the code unit of the four digits after `\u` at `at`.
  private func codeUnit(_ at: Int) -> UInt32 {
    json[at + 2..<at + 6].reduce(0) { $0 << 4 | UInt32(JSONCursor.hexValue($1) ?? 0) }
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: return byte - 0x30
    case 0x41...0x46: return byte - 0x37
    case 0x61...0x66: return byte - 0x57
    default: return nil
    }
  }
}
