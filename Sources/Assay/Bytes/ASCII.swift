/// Classes of ASCII characters.
enum ASCII {
  /// Whether `text` has at least one byte and only printable ASCII, TAB, LF, CR and spaces.
  static func isPrintable(_ text: ArraySlice<UInt8>) -> Bool {
    for byte in text where byte < 0x20 || byte > 0x7e {
      if byte != 0x09, byte != 0x0a, byte != 0x0d { return false }
    }
    return !text.isEmpty
  }

  /// Whether `byte` is white space: 09 to 0D or 20, hexadecimal.
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (byte >= 0x09 && byte <= 0x0d)
  }

  /// Returns `text` without the white space at both ends.
  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = text
    while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return rest
  }
}
