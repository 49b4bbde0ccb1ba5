/// Checks the base64 of a signature blob without decoding it: nearly all blobs are complete, and
/// for those the lengths suffice (RCP-17).
enum TriageSignature {
  /// Whether the text is clean base64 of a blob of version 2 or 3 whose lengths agree. If not,
  /// the caller decodes the text to find out what is wrong.
  static func isWhole(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count % 4 == 0 else { return false }
    var digits = text
    for _ in 0..<2 where digits.last == padding { digits = digits.dropLast() }
    let count = digits.count / 4 &* 3 &+ max(digits.count % 4 &- 1, 0)
    guard count <= SignatureBlob.byteCap, areDigits(digits), hasCleanEnd(digits),
      let version = SignatureBlob.Version(rawValue: Int64(byte(0, of: digits)))
    else { return false }
    let lengthAt = 1 &+ version.signatureByteCount
    // If the text ends before the length, the right side is negative and the lengths differ.
    var length = 0
    for offset in 0..<4 { length = length << 8 | Int(byte(lengthAt &+ offset, of: digits)) }
    return length == count &- lengthAt &- 4
  }

  private static let padding: UInt8 = 0x3d

  /// Returns the decoded byte at an offset; missing digits count as 0.
  private static func byte(_ offset: Int, of digits: ArraySlice<UInt8>) -> UInt8 {
    let place = offset &* 4 / 3
    let pair = value(digits, place) << 6 | value(digits, place &+ 1)
    return UInt8(truncatingIfNeeded: pair >> UInt32(4 &- offset % 3 &* 2))
  }

  /// Returns the value of the digit at an index; 0 if there is none.
  private static func value(_ digits: ArraySlice<UInt8>, _ place: Int) -> UInt32 {
    guard place >= 0, place < digits.count else { return 0 }
    switch digits[digits.startIndex &+ place] {
    case let digit where digit >= 0x61: return UInt32(digit) &- 71
    case let digit where digit >= 0x41: return UInt32(digit) &- 65
    case let digit where digit >= 0x30: return UInt32(digit) &+ 4
    case 0x2b: return 62
    default: return 63
    }
  }

  /// Whether the unused bits of the last digit are zero (RCP-2).
  private static func hasCleanEnd(_ digits: ArraySlice<UInt8>) -> Bool {
    let last = value(digits, digits.count &- 1)
    switch digits.count % 4 {
    case 2: return last & 15 == 0
    case 3: return last & 3 == 0
    default: return true
    }
  }

  /// Whether all bytes are digits of the standard alphabet. Has no branches, so that the compiler
  /// processes many bytes at once.
  private static func areDigits(_ text: ArraySlice<UInt8>) -> Bool {
    unsafe text.withUnsafeBufferPointer { bytes in
      var strangers: UInt8 = 0
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        // A … Z and a … z; / and 0 … 9, which are adjacent; +.
        let letter: UInt8 = (byte | 0x20) &- 0x61 < 26 ? 1 : 0
        let number: UInt8 = byte &- 0x2f < 11 ? 1 : 0
        let plus: UInt8 = byte == 0x2b ? 1 : 0
        strangers |= (letter | number | plus) ^ 1
      }
      return strangers == 0
    }
  }
}
