/// The escapes of JSON strings (RFC 8259 §7).
enum JSONEscapes {
  /// Gives out the bytes that a checked text stands for.
  static func resolve(_ text: ArraySlice<UInt8>, _ emit: (UInt8) -> Void) {
    let bytes = text.span
    var unescaped = JSONUnescaped(0..<bytes.count)
    while let byte = unescaped.next(in: bytes) { emit(byte) }
  }

  /// The value of the four hex digits at `at`, or nil.
  static func unit(_ text: Span<UInt8>, _ at: Int) -> UInt32? {
    guard at >= 0, at &+ 4 <= text.count else { return nil }
    var unit: UInt32 = 0
    for digit in at..<at &+ 4 {
      guard let value = Hex.value(text[digit]) else { return nil }
      unit = unit << 4 | UInt32(value)
    }
    return unit
  }

  /// The UTF-8 of a scalar that is not a surrogate, its first byte lowest.
  static func encode(_ scalar: UInt32) -> UInt32 {
    func tail(_ shift: UInt32) -> UInt32 { scalar >> shift & 0x3f | 0x80 }
    if scalar < 0x80 { return scalar }
    if scalar < 0x800 { return scalar >> 6 | 0xc0 | tail(0) << 8 }
    if scalar < 0x10000 { return scalar >> 12 | 0xe0 | tail(6) << 8 | tail(0) << 16 }
    return scalar >> 18 | 0xf0 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24
  }
}

/// The bytes that a checked text stands for, one after another and nothing
/// allocated.
struct JSONUnescaped {
  private var at: Int
  private let end: Int
  /// What is still to come of an escape, the next byte lowest.
  private var rest: UInt32 = 0

  init(_ text: Range<Int>) {
    at = text.lowerBound
    end = text.upperBound
  }

  @inline(__always)
  mutating func next(in bytes: Span<UInt8>) -> UInt8? {
    guard rest == 0 else { return taken() }
    guard at < end else { return nil }
    let byte = bytes[at]
    at &+= 1
    guard byte == 0x5c, at < end else { return byte }
    return escape(bytes)
  }

  private mutating func taken() -> UInt8 {
    defer { rest >>= 8 }
    return UInt8(truncatingIfNeeded: rest)
  }

  private mutating func escape(_ bytes: Span<UInt8>) -> UInt8? {
    let mark = bytes[at]
    at &+= 1
    switch mark {
    case 0x62: return 0x08
    case 0x66: return 0x0c
    case 0x6e: return 0x0a
    case 0x72: return 0x0d
    case 0x74: return 0x09
    case 0x75:
      guard let unit = JSONEscapes.unit(bytes, at) else {
        at = end
        return nil
      }
      at &+= 4
      if unit & 0xfc00 == 0xd800, let low = JSONEscapes.unit(bytes, at &+ 2) {
        at &+= 6
        rest = JSONEscapes.encode(0x10000 &+ (unit & 0x3ff) << 10 &+ (low & 0x3ff))
      } else {
        rest = JSONEscapes.encode(unit)
      }
      return taken()
    default: return mark
    }
  }
}
