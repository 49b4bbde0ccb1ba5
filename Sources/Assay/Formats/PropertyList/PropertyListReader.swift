/// Reads a property list of texts with a cursor, without recursion (RCP-6 … RCP-10).
///
/// The text is a parameter of each step, so that reading copies nothing.
struct PropertyListReader {
  private(set) var places: [PropertyList.Place] = []
  /// Keys and values with escapes, resolved. Their ranges count from the end of the text on.
  private(set) var resolved: [UInt8] = []
  private let limits: PropertyList.Limits
  private var position = 0

  init(_ limits: PropertyList.Limits) { self.limits = limits }

  mutating func read(_ text: Span<UInt8>) throws(Refusal) {
    try checkFormat(text)
    try checkEncoding(text)
    places.reserveCapacity(24)
    try skipSpace(text)
    try open(text)
    try skipSpace(text)
    while peek(text) != 0x7d {
      try readPair(text)
      try skipSpace(text)
    }
    position &+= 1
    skipPlainSpace(text)
    // Only white space may follow, no comment (RCP-7).
    try require(position == text.count, .malformedPlistSyntax, "RCP-7", at: here)
  }

  // MARK: the whole text

  /// Refuses a binary property list (RCP-8). An XML one begins with `<`, as data does, and is
  /// refused by `refuseConstruct`.
  private func checkFormat(_ text: Span<UInt8>) throws(Refusal) {
    try require(!text.begins(with: "bplist"), .malformedPlistConstruct, "RCP-8", at: "byte 0")
  }

  /// Requires valid UTF-8 without NUL (RCP-6).
  private func checkEncoding(_ text: Span<UInt8>) throws(Refusal) {
    if ByteScan.isASCIIWithoutNUL(text) { return }
    var at = 0
    while at < text.count {
      let length = text[at] == 0 ? 0 : UTF8Sequence.length(text, at)
      try require(length > 0, .malformedPlistEncoding, "RCP-6", at: place(at))
      at &+= length
    }
  }

  private mutating func open(_ text: Span<UInt8>) throws(Refusal) {
    if peek(text) == 0x7b {
      position &+= 1
      return
    }
    try refuseConstruct(text)
    try refuseListWithoutBraces(text)
    throw Refusal(.malformedPlistSyntax, "RCP-6", at: here)
  }

  /// Refuses pairs that are not enclosed in braces (RCP-8).
  private mutating func refuseListWithoutBraces(_ text: Span<UInt8>) throws(Refusal) {
    let start = position
    guard let first = peek(text), first == 0x22 || first == 0x27 || isBare(first) else { return }
    _ = try readString(text, cap: text.count)
    try skipSpace(text)
    try require(peek(text) != 0x3d, .malformedPlistConstruct, "RCP-8", at: place(start))
    position = start
  }

  // MARK: pairs

  private mutating func readPair(_ text: Span<UInt8>) throws(Refusal) {
    let start = position
    try require(places.count < limits.keys, .tooLargePlistEntry, "RCP-6", at: here)
    try refuseConstruct(text)
    let key = try readString(text, cap: limits.keyBytes).range
    let mark = mark(text, key)
    try checkIsNew(text, key, mark, at: start)
    try skipSpace(text)
    // Refuses a key without a value, and the colon of JSON (RCP-8).
    let next = peek(text)
    try require(next != 0x3b && next != 0x3a, .malformedPlistConstruct, "RCP-8", at: here)
    try require(next == 0x3d, .malformedPlistSyntax, "RCP-7", at: here)
    position &+= 1
    try skipSpace(text)
    try refuseConstruct(text)
    let value = try readString(text, cap: limits.valueBytes)
    try skipSpace(text)
    try require(peek(text) == 0x3b, .malformedPlistSyntax, "RCP-7", at: here)
    position &+= 1
    places.append(
      PropertyList.Place(key: key, value: value.range, isBare: value.isBare, mark: mark))
  }

  /// Returns the length and three bytes of the key, which distinguish most keys, so that few are
  /// compared in full.
  private func mark(_ text: Span<UInt8>, _ key: Range<Int>) -> UInt32 {
    if key.isEmpty { return 0 }
    return UInt32(truncatingIfNeeded: key.count) | UInt32(byte(text, key.lowerBound)) << 8
      | UInt32(byte(text, key.upperBound &- 1)) << 16
      | UInt32(byte(text, key.lowerBound &+ key.count / 2)) << 24
  }

  /// Requires the key to be new in its list (RCP-9).
  private func checkIsNew(
    _ text: Span<UInt8>, _ key: Range<Int>, _ mark: UInt32, at start: Int
  ) throws(Refusal) {
    for index in places.indices where places[index].mark == mark {
      try require(
        !haveSameBytes(text, places[index].key, key), .malformedPlistDuplicateKey, "RCP-9",
        at: place(start))
    }
  }

  private func haveSameBytes(_ text: Span<UInt8>, _ one: Range<Int>, _ other: Range<Int>) -> Bool {
    guard one.count == other.count else { return false }
    for offset in 0..<one.count
    where byte(text, one.lowerBound &+ offset) != byte(text, other.lowerBound &+ offset) {
      return false
    }
    return true
  }

  /// Returns a byte of the text, or of the resolved texts after its end.
  private func byte(_ text: Span<UInt8>, _ at: Int) -> UInt8 {
    at < text.count ? text[at] : resolved[at &- text.count]
  }

  /// Refuses an array, data or a dictionary where a text is expected (RCP-8).
  private func refuseConstruct(_ text: Span<UInt8>) throws(Refusal) {
    switch peek(text) {
    case 0x28, 0x3c, 0x5b, 0x7b:  // ( < [ {
      throw Refusal(.malformedPlistConstruct, "RCP-8", at: here)
    default: return
    }
  }

  // MARK: texts

  private mutating func readString(
    _ text: Span<UInt8>, cap: Int
  ) throws(Refusal) -> (range: Range<Int>, isBare: Bool) {
    guard let first = peek(text) else {
      throw Refusal(.malformedPlistSyntax, "RCP-7", at: here)
    }
    if first == 0x22 || first == 0x27 {
      position &+= 1
      return (try readQuoted(text, by: first, cap: cap), false)
    }
    let start = position
    while let byte = peek(text), isBare(byte) { position &+= 1 }
    try require(position > start, .malformedPlistSyntax, "RCP-7", at: here)
    try checkLength(position &- start, cap, at: start)
    return (start..<position, true)
  }

  private mutating func readQuoted(
    _ text: Span<UInt8>, by mark: UInt8, cap: Int
  ) throws(Refusal) -> Range<Int> {
    let start = position
    let stop = ByteScan.first(mark, or: 0x5c, in: text, from: start)
    try require(stop < text.count, .malformedPlistSyntax, "RCP-7", at: place(stop))
    guard text[stop] == mark else { return try readEscaped(text, by: mark, cap: cap) }
    try checkLength(stop &- start, cap, at: start)
    position = stop &+ 1
    return start..<stop
  }

  /// Reads a quoted text that contains escapes.
  private mutating func readEscaped(
    _ text: Span<UInt8>, by mark: UInt8, cap: Int
  ) throws(Refusal) -> Range<Int> {
    let start = position
    let begin = resolved.count
    while let byte = peek(text), byte != mark {
      position &+= 1
      if byte == 0x5c { try readEscape(text) } else { resolved.append(byte) }
      try checkLength(resolved.count &- begin, cap, at: start)
    }
    try require(position < text.count, .malformedPlistSyntax, "RCP-7", at: here)
    position &+= 1
    return text.count &+ begin..<text.count &+ resolved.count
  }

  /// Reads an escape whose backslash was read.
  private mutating func readEscape(_ text: Span<UInt8>) throws(Refusal) {
    let start = position &- 1
    guard let letter = peek(text) else {
      throw Refusal(.malformedPlistSyntax, "RCP-7", at: here)
    }
    position &+= 1
    switch letter {
    case 0x61: resolved.append(0x07)
    case 0x62: resolved.append(0x08)
    case 0x66: resolved.append(0x0c)
    case 0x6e: resolved.append(0x0a)
    case 0x72: resolved.append(0x0d)
    case 0x74: resolved.append(0x09)
    case 0x76: resolved.append(0x0b)
    case 0x22, 0x27, 0x5c, 0x0a: resolved.append(letter)
    case 0x30...0x37: try readOctal(text, letter, at: start)
    case 0x55: try readUnit(text, at: start)
    default: throw Refusal(.malformedPlistSyntax, "RCP-6", at: place(start))
    }
  }

  /// Reads one to three octal digits with a value below 128.
  private mutating func readOctal(
    _ text: Span<UInt8>, _ first: UInt8, at start: Int
  ) throws(Refusal) {
    var value = Int(first &- 0x30)
    for _ in 0..<2 {
      guard let digit = peek(text), digit >= 0x30, digit <= 0x37 else { break }
      value = value &* 8 &+ Int(digit &- 0x30)
      position &+= 1
    }
    try require(value < 128, .malformedPlistSyntax, "RCP-6", at: place(start))
    try require(value != 0, .malformedPlistEncoding, "RCP-6", at: place(start))
    resolved.append(UInt8(truncatingIfNeeded: value))
  }

  /// Reads four hex digits: a character of the basic plane that is not a surrogate.
  private mutating func readUnit(_ text: Span<UInt8>, at start: Int) throws(Refusal) {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = peek(text), let value = Hex.value(digit) else {
        throw Refusal(.malformedPlistSyntax, "RCP-6", at: place(start))
      }
      unit = unit << 4 | UInt32(value)
      position &+= 1
    }
    try require(
      unit != 0 && unit & 0xf800 != 0xd800, .malformedPlistEncoding, "RCP-6", at: place(start))
    var utf8 = JSONEscapes.encode(unit)
    while utf8 != 0 {
      resolved.append(UInt8(truncatingIfNeeded: utf8))
      utf8 >>= 8
    }
  }

  private func checkLength(_ length: Int, _ cap: Int, at start: Int) throws(Refusal) {
    try require(length <= cap, .tooLargePlistEntry, "RCP-6", at: place(start))
  }

  /// ALPHA / DIGIT / "_" / "$" / "/" / ":" / "." / "-".
  private func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x41...0x5a, 0x61...0x7a, 0x2d...0x3a, 0x5f, 0x24: return true
    default: return false
    }
  }

  // MARK: white space

  /// Skips white space. A comment after it is refused (RCP-8).
  @inline(__always)
  private mutating func skipSpace(_ text: Span<UInt8>) throws(Refusal) {
    skipPlainSpace(text)
    guard peek(text) == 0x2f, position &+ 1 < text.count else { return }
    let next = text[position &+ 1]
    try require(next != 0x2f && next != 0x2a, .malformedPlistConstruct, "RCP-8", at: here)
  }

  /// Skips 09 to 0D, 20 (hexadecimal), U+2028 and U+2029.
  @inline(__always)
  private mutating func skipPlainSpace(_ text: Span<UInt8>) {
    while let byte = peek(text) {
      if byte == 0x20 || (byte >= 0x09 && byte <= 0x0d) {
        position &+= 1
      } else if byte == 0xe2, position &+ 2 < text.count, text[position &+ 1] == 0x80,
        text[position &+ 2] & 0xfe == 0xa8
      {
        position &+= 3
      } else {
        return
      }
    }
  }

  @inline(__always)
  private func peek(_ text: Span<UInt8>) -> UInt8? {
    position < text.count ? text[position] : nil
  }

  private var here: String { place(position) }

  private func place(_ offset: Int) -> String { "byte " + String(offset) }
}
