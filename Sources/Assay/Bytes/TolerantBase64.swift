/// Base64 as clients send it (RCP-2): wrapped or not, standard or url-safe
/// digits, with or without padding. Every text still has one value at most:
/// what is doubtful is no base64.
enum TolerantBase64 {
  /// The bytes of a text, or nil when it is none: both alphabets in one text,
  /// padding inside or more of it than needed, 4n + 1 digits, unused bits that
  /// are not zero, any other character. CR, LF, TAB and spaces count for nothing.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    // Nearly all texts are clean ones.
    if let bytes = Base64.decodeStandard(text) { return bytes }
    return decode(spaced: text)
  }

  /// The same text with `+` for each space that stands at no line break: a form
  /// post makes one of the other (RCP-3). nil when it has no such space.
  static func withPlusForSpaces(_ text: [UInt8]) -> [UInt8]? {
    guard ByteScan.first(space, or: space, in: text.span, from: 0) < text.count else { return nil }
    var restored: [UInt8] = []
    restored.reserveCapacity(text.count)
    var found = false
    var at = 0
    while at < text.count {
      guard text[at] == space else {
        restored.append(text[at])
        at &+= 1
        continue
      }
      let begin = at
      while at < text.count, text[at] == space { at &+= 1 }
      let touchesBreak =
        begin == 0 || isLineBreak(text[begin &- 1]) || (at < text.count && isLineBreak(text[at]))
      if !touchesBreak {
        found = true
        for _ in begin..<at { restored.append(plus) }
      }
    }
    return found ? restored : nil
  }

  /// The offset of the first byte that stands in no base64 text; nil when the
  /// fault is another one.
  static func stranger(in text: ArraySlice<UInt8>) -> Int? {
    for (offset, byte) in text.enumerated() where classes[Int(byte)] & Class.other != 0 {
      return offset
    }
    return nil
  }

  /// Whether the text holds `%` and two hex digits: it is a form field that
  /// nobody decoded (RCP-2).
  static func hasPercentEscapes(_ text: ArraySlice<UInt8>) -> Bool {
    var at = text.startIndex
    while at &+ 2 < text.endIndex {
      if text[at] == 0x25, Hex.value(text[at &+ 1]) != nil, Hex.value(text[at &+ 2]) != nil {
        return true
      }
      at &+= 1
    }
    return false
  }

  /// CR, LF, TAB and space.
  static func isBlank(_ byte: UInt8) -> Bool { classes[Int(byte)] == 0 }

  // MARK: parts

  private static let space: UInt8 = 0x20
  private static let plus: UInt8 = 0x2b

  private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

  private static func decode(spaced text: ArraySlice<UInt8>) -> [UInt8]? {
    var (digits, seen) = withoutBlanks(text)
    guard seen & Class.other == 0, seen & Class.both != Class.both else { return nil }
    var padding = 0
    while digits.last == 0x3d, padding < 2 {
      digits.removeLast()
      padding &+= 1
    }
    // RCP-2: less padding than due is accepted, more is not.
    guard padding <= (4 &- digits.count % 4) % 4 else { return nil }
    if seen & Class.both == Class.url { return Base64.decodeURL(digits[...]) }
    return Base64.decodeDigits(digits[...])
  }

  /// The text without CR, LF, TAB and space, and the classes of all that is left.
  private static func withoutBlanks(_ text: ArraySlice<UInt8>) -> ([UInt8], seen: UInt8) {
    let table = classes.span
    let input = text.span
    var seen: UInt8 = 0
    let digits = unsafe [UInt8](unsafeUninitializedCapacity: text.count) { buffer, count in
      var kept = 0
      for at in 0..<input.count {
        let byte = input[at]
        let kind = table[Int(byte)]
        // Written always, counted when it is no blank: `kept` never passes `at`.
        unsafe buffer[kept] = byte
        kept &+= kind == 0 ? 0 : 1
        seen |= kind
      }
      count = kept
    }
    return (digits, seen)
  }

  /// What a byte may be in a text of base64.
  private enum Class {
    /// A digit of both alphabets, or padding.
    static let plain: UInt8 = 1
    /// `+` and `/`.
    static let standard: UInt8 = 2
    /// `-` and `_`.
    static let url: UInt8 = 4
    static let both: UInt8 = 6
    /// No part of any base64 text.
    static let other: UInt8 = 8
  }

  /// The class of each byte; 0 for CR, LF, TAB and space.
  private static let classes: [UInt8] = {
    var table = [UInt8](repeating: Class.other, count: 256)
    for byte in 0x30...0x39 { table[byte] = Class.plain }
    for byte in 0x41...0x5a { table[byte] = Class.plain }
    for byte in 0x61...0x7a { table[byte] = Class.plain }
    table[0x3d] = Class.plain
    table[0x2b] = Class.standard
    table[0x2f] = Class.standard
    table[0x2d] = Class.url
    table[0x5f] = Class.url
    for byte in [0x09, 0x0a, 0x0d, 0x20] { table[byte] = 0 }
    return table
  }()
}
