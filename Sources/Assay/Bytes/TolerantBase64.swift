/// Base64 as clients send it (RCP-2): wrapped or not, of the standard or the URL-safe alphabet,
/// with or without padding. A text still decodes to at most one value: an ambiguous text is
/// refused.
enum TolerantBase64 {
  /// Decodes `text`, ignoring CR, LF, TAB and spaces. Returns `nil` if the text mixes both
  /// alphabets, has padding inside or more than needed, 4n + 1 digits, unused bits that are not
  /// zero, or any other character.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    // Almost all texts are plain base64.
    if let bytes = Base64.decodeStandard(text) { return bytes }
    return decode(spaced: text)
  }

  /// Decodes a text that ends too early: up to its last complete four digits.
  static func decode(cut text: ArraySlice<UInt8>) -> [UInt8]? {
    var digits = withoutBlanks(text)
    while digits.last == 0x3d { digits.removeLast() }
    digits.removeLast(digits.count % 4)
    return Base64.decodeDigits(digits[...]) ?? Base64.decodeURL(digits[...])
  }

  /// Returns `text` with `+` for each space that is not next to a line break, because form
  /// decoding turns `+` into a space (RCP-3); `nil` if there is no such space.
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

  /// Returns the offset of the first byte that no base64 text contains; `nil` if the fault is
  /// another one.
  static func stranger(in text: ArraySlice<UInt8>) -> Int? {
    for (offset, byte) in text.enumerated() where !isAllowed(byte) {
      return offset
    }
    return nil
  }

  /// Whether the text contains `%` and two hex digits, as a form field does that was not decoded
  /// (RCP-2).
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

  /// Whether `byte` is CR, LF, TAB or space.
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == 0x09 || isLineBreak(byte) }

  // MARK: parts

  private static let space: UInt8 = 0x20
  private static let plus: UInt8 = 0x2b

  private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

  private static func decode(spaced text: ArraySlice<UInt8>) -> [UInt8]? {
    var digits = withoutBlanks(text)
    var padding = 0
    while digits.last == 0x3d, padding < 2 {
      digits.removeLast()
      padding &+= 1
    }
    // Accepts too little padding, but not too much (RCP-2).
    guard padding <= (4 &- digits.count % 4) % 4 else { return nil }
    // Each decoder refuses the two digits of the other alphabet, so a text with both is refused.
    return Base64.decodeDigits(digits[...]) ?? Base64.decodeURL(digits[...])
  }

  /// Returns the text without CR, LF, TAB and spaces, copied line by line.
  private static func withoutBlanks(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.count)
    let bytes = text.span
    var at = 0
    while at < bytes.count {
      let stop = ByteScan.first(0x0a, or: 0x0d, in: bytes, from: at)
      kept.append(contentsOf: text[text.startIndex &+ at..<text.startIndex &+ stop])
      at = stop &+ 1
    }
    if ByteScan.first(space, or: 0x09, in: kept.span, from: 0) < kept.count {
      kept.removeAll { $0 == space || $0 == 0x09 }
    }
    return kept
  }

  /// Whether `byte` is CR, LF, TAB, space, a digit of either alphabet or `=`.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2d, 0x2f, 0x3d, 0x5f: return true
    default: return isBlank(byte)
    }
  }
}
