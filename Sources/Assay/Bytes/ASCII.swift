/// Printable text and white space in octets, whatever they are of.
enum ASCII {
  /// One byte or more of ASCII, blanks and line ends included.
  static func isPrintable(_ text: ArraySlice<UInt8>) -> Bool {
    for byte in text where byte < 0x20 || byte > 0x7e {
      if byte != 0x09, byte != 0x0a, byte != 0x0d { return false }
    }
    return !text.isEmpty
  }

  /// 09 … 0D and 20.
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (byte >= 0x09 && byte <= 0x0d)
  }

  /// The text without the white space at both ends.
  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = text
    while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return rest
  }
}
