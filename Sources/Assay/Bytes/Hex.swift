/// Hexadecimal text: encodes lower case unless asked otherwise, decodes either case.
enum Hex {
  /// Returns the value of one hex digit; `nil` for any other byte.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: return digit &- 0x30
    case 0x41...0x46: return digit &- 0x37
    case 0x61...0x66: return digit &- 0x57
    default: return nil
    }
  }

  /// Decodes an even number of hex digits; `nil` for any other text.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var high: UInt8? = nil
    for digit in text {
      guard let value = value(digit) else { return nil }
      if let upper = high {
        bytes.append(upper << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  static func encode(_ bytes: [UInt8], upper: Bool = false) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count &* 2)
    for byte in bytes {
      text.append(digit(byte >> 4, upper))
      text.append(digit(byte & 15, upper))
    }
    return text
  }

  @inline(__always)
  private static func digit(_ value: UInt8, _ upper: Bool) -> UInt8 {
    value < 10 ? 0x30 &+ value : (upper ? 0x37 : 0x57) &+ value
  }
}
