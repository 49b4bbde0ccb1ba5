/// The escapes of JSON strings (RFC 8259 §7).
enum JSONEscapes {
  /// Calls `emit` with each byte of a validated string text, escapes resolved.
  static func resolve(_ text: ArraySlice<UInt8>, _ emit: (UInt8) -> Void) {
    let bytes = text.span
    var unescaped = JSONUnescaped(0..<bytes.count)
    while let byte = unescaped.next(in: bytes) { emit(byte) }
  }

  /// Returns the value of the four hex digits at `at`; `nil` if there are none.
  static func unit(_ text: Span<UInt8>, _ at: Int) -> UInt32? {
    guard at >= 0, at &+ 4 <= text.count else { return nil }
    var unit: UInt32 = 0
    for digit in at..<at &+ 4 {
      guard let value = Hex.value(text[digit]) else { return nil }
      unit = unit << 4 | UInt32(value)
    }
    return unit
  }

  /// Returns the UTF-8 encoding of a scalar that is not a surrogate, its first byte lowest.
  static func encode(_ scalar: UInt32) -> UInt32 {
    func tail(_ shift: UInt32) -> UInt32 { scalar >> shift & 0x3f | 0x80 }
    if scalar < 0x80 { return scalar }
    if scalar < 0x800 { return scalar >> 6 | 0xc0 | tail(0) << 8 }
    if scalar < 0x10000 { return scalar >> 12 | 0xe0 | tail(6) << 8 | tail(0) << 16 }
    return scalar >> 18 | 0xf0 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24
  }
}
