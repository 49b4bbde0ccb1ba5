/// Base64 that accepts exactly one encoding of every value: the right alphabet, padding as the
/// variant demands, unused bits zero, no white space (RFC 4648 §3.5).
enum Base64 {
  /// Decodes base64url without padding (RFC 4648 §5), as in every JWS segment (JWS-4).
  static func decodeURL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    decode(text, urlValues)
  }

  /// Decodes base64 with its padding (RFC 4648 §4), as in `x5c` (JWS-14).
  static func decodeStandard(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var digits = text
    for _ in 0..<2 where digits.last == 0x3d { digits = digits.dropLast() }
    return decode(digits, standardValues)
  }

  /// Decodes base64 whose padding has been removed (RFC 4648 §4).
  static func decodeDigits(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    decode(text, standardValues)
  }

  /// Splits a compact JWS. Returns the offsets of its dots, at most three because a fourth
  /// segment refuses the JWS anyway, and the offset of the first byte that is neither base64url
  /// nor a dot; `nil` if there is none.
  static func segments(_ text: [UInt8]) -> (dots: [Int], stranger: Int?) {
    var dots: [Int] = []
    var start = 0
    while start < text.count, dots.count <= 2 {
      // Almost all blocks contain neither a dot nor an invalid character.
      start &+= digitPrefix(text, from: start)
      let end = Swift.min(start &+ blockSize, text.count)
      for index in start..<end where urlValues[Int(text[index])] == stranger {
        guard text[index] == 0x2e else { return (dots, index) }
        dots.append(index)
        if dots.count > 2 { break }
      }
      start = end
    }
    return (dots, nil)
  }

  /// Encodes base64 with padding (RFC 4648 §4).
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

  /// Encodes base64url without padding (RFC 4648 §5).
  static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
    var text = encodeStandard(bytes)
    while text.last == 0x3d { text.removeLast() }
    for place in text.indices {
      if text[place] == 0x2b { text[place] = 0x2d }
      if text[place] == 0x2f { text[place] = 0x5f }
    }
    return text
  }

  /// Returns padded base64 with the unused bits of its last character set to zero.
  static func withoutUnusedBits(_ text: [UInt8]) -> [UInt8] {
    let padding = text.suffix(2).count { $0 == 0x3d }
    let place = text.count &- padding &- 1
    guard padding > 0, place >= 0, let value = standardDigits.firstIndex(of: text[place]) else {
      return text
    }
    var text = text
    text[place] = standardDigits[padding == 1 ? value & 0x3c : value & 0x30]
    return text
  }

  // MARK: parts

  private static let blockSize = 32

  /// Returns the number of bytes from `start` on that are base64url characters, counted in whole
  /// blocks.
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

  /// Returns a word whose bytes have their top bit set where the byte of `word` is a base64url
  /// character.
  @inline(__always)
  private static func urlDigits(of word: UInt64) -> UInt64 {
    let lowerCase = word | everyByte(0x20)
    let digits =
      bytes(of: word, from: 0x30, to: 0x39) | bytes(of: lowerCase, from: 0x61, to: 0x7a)
      | bytes(of: word, from: 0x2d, to: 0x2d) | bytes(of: word, from: 0x5f, to: 0x5f)
    return digits & ~word
  }

  /// Returns a word whose bytes have their top bit set where the byte of `word` is in the range.
  /// A byte of 0x80 or above may falsify the bytes above it; it is no digit itself, so the word
  /// is not taken as eight digits.
  @inline(__always)
  private static func bytes(of word: UInt64, from low: UInt64, to high: UInt64) -> UInt64 {
    (word &+ everyByte(0x80 &- low)) & ~(word &+ everyByte(0x7f &- high))
  }

  @inline(__always)
  private static func everyByte(_ value: UInt64) -> UInt64 { value &* 0x0101_0101_0101_0101 }

  private static let standardDigits = Text(
    stringLiteral:
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  ).utf8
  private static let standardValues = values(standardDigits)
  private static let urlValues = values(
    standardDigits.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 })

  /// Returns the bits that each byte contributes to the three bytes of its group, in four tables
  /// of 256 entries, one for each position in the group; the group's first byte is the lowest
  /// one. An invalid character sets the bit `stranger`, above all of them.
  private static func values(_ digits: [UInt8]) -> [UInt32] {
    var table = [UInt32](repeating: stranger, count: 1024)
    for (value, digit) in digits.enumerated() {
      let value = UInt32(value)
      let place = Int(digit)
      table[place] = value << 2
      table[256 &+ place] = value >> 4 | (value & 15) << 12
      table[512 &+ place] = (value >> 2) << 8 | (value & 3) << 22
      table[768 &+ place] = value << 16
    }
    return table
  }

  private static let stranger: UInt32 = 1 << 24

  /// Decodes unpadded digits; `nil` for a wrong character, an impossible length, or unused bits
  /// that are not zero.
  private static func decode(_ text: ArraySlice<UInt8>, _ table: [UInt32]) -> [UInt8]? {
    let tail = text.count % 4
    guard tail != 1 else { return nil }
    let length = text.count / 4 &* 3 &+ (tail == 0 ? 0 : tail &- 1)
    var isClean = true
    // The buffer has two spare bytes because groups are written eight bytes at a time.
    var bytes = unsafe [UInt8](unsafeUninitializedCapacity: length &+ 2) { buffer, count in
      count = length
      isClean = unsafe text.withUnsafeBytes { text in
        unsafe table.withUnsafeBufferPointer { table in
          unsafe decode(text, table, into: UnsafeMutableRawBufferPointer(buffer))
        }
      }
    }
    guard isClean else {
      // The rejected bytes may be most of a private key.
      Secret.wipe(&bytes)
      return nil
    }
    return bytes
  }

  /// Decodes `text` into a buffer with room for the value and two more bytes. Returns `false` for
  /// a wrong character or unused bits that are not zero.
  private static func decode(
    _ text: UnsafeRawBufferPointer, _ table: UnsafeBufferPointer<UInt32>,
    into bytes: UnsafeMutableRawBufferPointer
  ) -> Bool {
    var read = 0
    var write = 0
    while read &+ 8 <= text.count {
      let low = unsafe group(text, at: read, table)
      let high = unsafe group(text, at: read &+ 4, table)
      guard (low | high) < stranger else { return false }
      let value = UInt64(low) | UInt64(high) << 24
      unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: write, as: UInt64.self)
      read &+= 8
      write &+= 6
    }
    // Decodes the remaining digits, padded with the digit of value 0.
    var seen: UInt32 = 0
    while read < text.count {
      var word: UInt32 = 0x4141_4141
      let there = Swift.min(text.count &- read, 4)
      for place in 0..<there {
        let shift = UInt32(truncatingIfNeeded: place &* 8)
        word = unsafe word & ~(0xff << shift) | UInt32(text[read &+ place]) << shift
      }
      let value = unsafe group(word, table)
      seen |= value
      // Bits beyond the bytes of an incomplete group are unused and must be zero.
      if there < 4, (value & 0xff_ffff) >> UInt32(8 &* (there &- 1)) != 0 { return false }
      for place in 0..<Swift.max(there &- 1, 0) {
        unsafe bytes[write &+ place] = UInt8(truncatingIfNeeded: value >> UInt32(8 &* place))
      }
      read &+= there
      write &+= there &- 1
    }
    return seen < stranger
  }

  /// Returns the value of four digits. Loading each byte takes fewer instructions than splitting
  /// one loaded word.
  @inline(__always)
  private static func group(
    _ text: UnsafeRawBufferPointer, at read: Int, _ table: UnsafeBufferPointer<UInt32>
  ) -> UInt32 {
    unsafe table[Int(text[read])] | table[256 &+ Int(text[read &+ 1])]
      | table[512 &+ Int(text[read &+ 2])] | table[768 &+ Int(text[read &+ 3])]
  }

  @inline(__always)
  private static func group(_ word: UInt32, _ table: UnsafeBufferPointer<UInt32>) -> UInt32 {
    unsafe table[Int(word & 0xff)] | table[256 | Int(word >> 8 & 0xff)]
      | table[512 | Int(word >> 16 & 0xff)] | table[768 | Int(word >> 24)]
  }
}
