/// A text, kept as the UTF-8 bytes that were signed.
///
/// Equality and hashing compare bytes: `String` compares by Unicode equivalence, under which two
/// different bundle ids can be "equal" (JWS-73).
public struct Text: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The bytes of the text, valid UTF-8.
  public let utf8: [UInt8]

  public init(_ utf8: [UInt8]) { self.utf8 = utf8 }

  public init(_ string: String) { utf8 = Array(string.utf8) }

  public init(stringLiteral literal: StaticString) {
    utf8 = literal.withUTF8Buffer { unsafe Array($0) }
  }

  public var count: Int { utf8.count }
  public var isEmpty: Bool { utf8.isEmpty }

  /// The text as a `String`, for messages and Swift callers.
  public var string: String { String(decoding: utf8, as: UTF8.self) }

  /// The text with A to Z in lower case and all other characters unchanged.
  var asciiLowercased: Text {
    Text(utf8.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 })
  }

  /// Whether this is a UUID in its usual form: 8-4-4-4-12 hex digits of either case.
  var isUUID: Bool {
    guard utf8.count == 36 else { return false }
    for (index, byte) in utf8.enumerated() {
      switch index {
      case 8, 13, 18, 23: if byte != 0x2d { return false }
      default: if Hex.value(byte) == nil { return false }
      }
    }
    return true
  }

  /// Whether the text contains one of U+0000 … U+001F and U+007F … U+009F.
  var hasControlCharacter: Bool {
    var last: UInt8 = 0
    for byte in utf8 {
      if byte < 0x20 || byte == 0x7f || (last == 0xc2 && byte < 0xa0) { return true }
      last = byte
    }
    return false
  }

  /// Number of Unicode code points.
  var characterCount: Int { utf8.count { $0 & 0xc0 != 0x80 } }

  /// Whether this is one or more decimal digits.
  var isDecimal: Bool {
    !utf8.isEmpty && utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }
}

extension Text {
  /// Whether `left` sorts before `right`, by bytes; a prefix sorts first.
  static func precedes(_ left: Text, _ right: Text) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Whether `left` sorts before `right` as a decimal number of any length (DCD-6), by bytes if
  /// the numbers are equal.
  static func precedesAsNumber(_ left: Text, _ right: Text) -> Bool {
    let (leftDigits, rightDigits) = (left.withoutLeadingZeros, right.withoutLeadingZeros)
    if leftDigits.count != rightDigits.count { return leftDigits.count < rightDigits.count }
    if leftDigits != rightDigits { return leftDigits.lexicographicallyPrecedes(rightDigits) }
    return precedes(left, right)
  }

  private var withoutLeadingZeros: ArraySlice<UInt8> { utf8.drop { $0 == 0x30 } }
}
