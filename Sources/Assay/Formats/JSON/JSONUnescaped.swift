/// Iterates over the bytes of a validated string text, escapes resolved, without allocation.
struct JSONUnescaped {
  private var at: Int
  private let end: Int
  /// The remaining bytes of an escaped character, the next one lowest.
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
