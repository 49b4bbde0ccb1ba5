/// Base64 with exactly one spelling for every value: the right alphabet, padding
/// as the form asks for it, unused bits zero, no white space (RFC 4648 §3.5).
enum Base64 {
  /// RFC 4648 §5 without padding, as in every JWS segment (JWS-4).
  static func decodeURL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    decode(text, urlValues)
  }

  /// RFC 4648 §4 with padding where it is needed, as in x5c (JWS-14).
  static func decodeStandard(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var digits = text
    for _ in 0..<2 where digits.last == 0x3d { digits = digits.dropLast() }
    return decode(digits, standardValues)
  }

  /// The offset of the first byte that is neither a character of base64url nor a
  /// dot, or nil; and the offsets of the dots, of which three are enough to know.
  static func segments(_ text: [UInt8]) -> (dots: [Int], stranger: Int?) {
    var dots: [Int] = []
    var start = 0
    while start < text.count, dots.count <= 2 {
      // Nearly all blocks hold neither a dot nor a stranger.
      start &+= digitPrefix(text, from: start)
      let end = Swift.min(start &+ blockSize, text.count)
      for index in start..<end where urlValues[Int(text[index])] == invalid {
        guard text[index] == 0x2e else { return (dots, index) }
        dots.append(index)
        if dots.count > 2 { break }
      }
      start = end
    }
    return (dots, nil)
  }

  /// RFC 4648 §4 with padding.
  static func encodeStandard(_ bytes: [UInt8]) -> [UInt8] {
    let digits = standardDigits
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 &* 4 &+ 4)
    var group: UInt32 = 0
    var held = 0
    for byte in bytes {
      group = group << 8 | UInt32(byte)
      held += 1
      if held == 3 {
        for shift in [18, 12, 6, 0] as [UInt32] { text.append(digits[Int(group >> shift & 63)]) }
        group = 0
        held = 0
      }
    }
    if held == 1 {
      text += [digits[Int(group >> 2 & 63)], digits[Int(group << 4 & 63)], 0x3d, 0x3d]
    } else if held == 2 {
      text += [
        digits[Int(group >> 10 & 63)], digits[Int(group >> 4 & 63)],
        digits[Int(group << 2 & 63)], 0x3d,
      ]
    }
    return text
  }

  // MARK: parts

  private static let blockSize = 32

  /// How many bytes from `start` on, counted in whole blocks, are characters of
  /// base64url.
  private static func digitPrefix(_ text: [UInt8], from start: Int) -> Int {
    unsafe text.withUnsafeBytes { bytes in
      var at = start
      while at &+ blockSize <= bytes.count {
        var digits = everyByte(0x80)
        for offset in [0, 8, 16, 24] {
          digits &= urlDigits(
            of: unsafe bytes.loadUnaligned(fromByteOffset: at &+ offset, as: UInt64.self))
        }
        guard digits == everyByte(0x80) else { break }
        at &+= blockSize
      }
      return at &- start
    }
  }

  /// The top bit of each byte says whether the word's byte is a character of
  /// base64url.
  @inline(__always)
  private static func urlDigits(of word: UInt64) -> UInt64 {
    let lowerCase = word | everyByte(0x20)
    let digits =
      bytes(of: word, from: 0x30, to: 0x39) | bytes(of: lowerCase, from: 0x61, to: 0x7a)
      | bytes(of: word, from: 0x2d, to: 0x2d) | bytes(of: word, from: 0x5f, to: 0x5f)
    return digits & ~word
  }

  /// The top bit of each byte says whether the word's byte lies in the range.
  /// A byte from 0x80 on may spoil the bytes above it; it is no digit itself, so
  /// that the word is not taken for one of digits.
  @inline(__always)
  private static func bytes(of word: UInt64, from low: UInt64, to high: UInt64) -> UInt64 {
    (word &+ everyByte(0x80 &- low)) & ~(word &+ everyByte(0x7f &- high))
  }

  @inline(__always)
  private static func everyByte(_ value: UInt64) -> UInt64 { value &* 0x0101_0101_0101_0101 }

  private static let invalid: UInt8 = 0xff
  private static let standardDigits = Text(
    stringLiteral:
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  ).utf8
  private static let standardValues = values(standardDigits)
  private static let urlValues = values(
    standardDigits.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 })

  private static func values(_ digits: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: invalid, count: 256)
    for (value, digit) in digits.enumerated() {
      table[Int(digit)] = UInt8(truncatingIfNeeded: value)
    }
    return table
  }

  /// Decodes unpadded digits; nil for a wrong character, an impossible length,
  /// or unused bits that are not zero.
  private static func decode(_ text: ArraySlice<UInt8>, _ table: [UInt8]) -> [UInt8]? {
    let tail = text.count % 4
    guard tail != 1 else { return nil }
    let length = text.count / 4 &* 3 &+ (tail == 0 ? 0 : tail &- 1)
    let digits = text.span
    let values = table.span
    var clean = true
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var read = 0
      var write = 0
      var seen: UInt8 = 0
      while read &+ 4 <= digits.count {
        let a = values[Int(digits[read])]
        let b = values[Int(digits[read &+ 1])]
        let c = values[Int(digits[read &+ 2])]
        let d = values[Int(digits[read &+ 3])]
        seen |= a | b | c | d
        unsafe buffer[write] = a << 2 | b >> 4
        unsafe buffer[write &+ 1] = b << 4 | c >> 2
        unsafe buffer[write &+ 2] = c << 6 | d
        read &+= 4
        write &+= 3
      }
      if tail >= 2 {
        let a = values[Int(digits[read])]
        let b = values[Int(digits[read &+ 1])]
        seen |= a | b
        unsafe buffer[write] = a << 2 | b >> 4
        write &+= 1
        if tail == 3 {
          let c = values[Int(digits[read &+ 2])]
          seen |= c
          unsafe buffer[write] = b << 4 | c >> 2
          write &+= 1
          clean = c & 3 == 0
        } else {
          clean = b & 15 == 0
        }
      }
      if seen & 0x80 != 0 { clean = false }
      count = write
    }
    return clean ? bytes : nil
  }
}
