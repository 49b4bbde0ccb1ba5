/// A fraction between 0 and 1, read from the text of a JSON number in units of 10^-12. Twelve
/// decimals are exact, further ones are dropped; no floating point is involved.
struct UnitFraction: Sendable, Equatable, Comparable {
  /// The fraction in units of 10^-12: 0 to 10^12.
  let parts: Int64

  private static let places = 12

  /// Parses the text of a valid JSON number; `nil` if it is negative or greater than 1.
  init?(_ number: ArraySlice<UInt8>) {
    var digits: [UInt8] = []
    // Number of digits before the decimal point.
    var point: Int? = nil
    var exponent = 0
    var exponentIsNegative = false
    var isExponent = false
    for byte in number {
      switch byte {
      case 0x2e: point = digits.count
      case 0x45, 0x65: isExponent = true
      case 0x2d:
        guard isExponent else { return nil }
        exponentIsNegative = true
      case 0x30...0x39:
        if isExponent {
          exponent = Swift.min(exponent &* 10 &+ Int(byte &- 0x30), 9999)
        } else {
          digits.append(byte &- 0x30)
        }
      default: break
      }
    }
    var whole = (point ?? digits.count) &+ (exponentIsNegative ? 0 &- exponent : exponent)
    while digits.first == 0 {
      digits.removeFirst()
      whole &-= 1
    }
    if digits.isEmpty {
      parts = 0
      return
    }
    // The value is 0.digits × 10^whole.
    if whole > 0 {
      guard whole == 1, digits[0] == 1, digits.dropFirst().allSatisfy({ $0 == 0 }) else {
        return nil
      }
      parts = UnitFraction.one
      return
    }
    var value: Int64 = 0
    for place in 0..<UnitFraction.places {
      let index = place &+ whole
      value = value &* 10 &+ (index >= 0 && index < digits.count ? Int64(digits[index]) : 0)
    }
    parts = value
  }

  private static let one: Int64 = 1_000_000_000_000

  static func < (left: UnitFraction, right: UnitFraction) -> Bool { left.parts < right.parts }
}
