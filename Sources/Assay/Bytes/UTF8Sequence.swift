/// Well-formed UTF-8 (Unicode, table 3-7): no overlong forms, no surrogates, nothing above
/// U+10FFFF.
enum UTF8Sequence {
  /// Returns the length of the sequence that begins at `at`, 1 to 4 bytes; 0 if none does.
  static func length(_ bytes: [UInt8], _ at: Int) -> Int { length(bytes.span, at) }

  /// Returns the length of the sequence that begins at `at`, 1 to 4 bytes; 0 if none does.
  static func length(_ bytes: Span<UInt8>, _ at: Int) -> Int {
    guard at < bytes.count else { return 0 }
    let first = bytes[at]
    var low: UInt8 = 0x80
    var high: UInt8 = 0xbf
    let length: Int
    switch first {
    case 0x00...0x7f: return 1
    case 0xc2...0xdf: length = 2
    case 0xe0...0xef:
      length = 3
      if first == 0xe0 { low = 0xa0 }
      if first == 0xed { high = 0x9f }
    case 0xf0...0xf4:
      length = 4
      if first == 0xf0 { low = 0x90 }
      if first == 0xf4 { high = 0x8f }
    default: return 0
    }
    guard at &+ length <= bytes.count else { return 0 }
    guard bytes[at &+ 1] >= low, bytes[at &+ 1] <= high else { return 0 }
    for next in 2..<max(length, 2) where bytes[at &+ next] & 0xc0 != 0x80 { return 0 }
    return length
  }

  static func isValid(_ bytes: [UInt8]) -> Bool {
    var at = 0
    while at < bytes.count {
      let length = length(bytes, at)
      if length == 0 { return false }
      at &+= length
    }
    return true
  }
}
