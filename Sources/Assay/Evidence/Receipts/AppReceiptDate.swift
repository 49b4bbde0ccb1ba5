/// The dates of receipts: `YYYY-MM-DDTHH:MM:SS`, optionally a fraction of one to three digits,
/// then `Z`, `±HHMM` or `±HH:MM` (APR-13).
enum AppReceiptDate {
  /// Returns milliseconds since 1970 UTC; `nil` for any other form or a date that does not exist.
  /// Years are 0 to 9999, so that nothing overflows.
  static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    var rest = text
    guard let year = number(&rest, 4), take(&rest, 0x2d), let month = number(&rest, 2),
      take(&rest, 0x2d), let day = number(&rest, 2), take(&rest, 0x54),
      let hour = number(&rest, 2), take(&rest, 0x3a), let minute = number(&rest, 2),
      take(&rest, 0x3a), let second = number(&rest, 2), month >= 1, month <= 12, day >= 1,
      day <= CivilDate.daysInMonth(year: year, month: month), hour <= 23, minute <= 59,
      second <= 59, let fraction = fraction(&rest), let ahead = minutesAhead(&rest), rest.isEmpty
    else { return nil }
    let days = CivilDate.days(year: year, month: month, day: day)
    let minutes = days &* 1440 &+ hour &* 60 &+ minute &- ahead
    return (minutes &* 60 &+ second) &* 1000 &+ fraction
  }

  /// Reads a fraction as milliseconds; 0 if there is none, `nil` if it has no digits.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard take(&rest, 0x2e) else { return 0 }
    var value: Int64 = 0
    var digits = 0
    while digits < 3, let digit = number(&rest, 1) {
      value = value &* 10 &+ digit
      digits &+= 1
    }
    switch digits {
    case 0: return nil
    case 1: return value &* 100
    case 2: return value &* 10
    default: return value
    }
  }

  /// Reads the time zone as minutes, positive east of Greenwich.
  private static func minutesAhead(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if take(&rest, 0x5a) { return 0 }
    let isWest = take(&rest, 0x2d)
    guard isWest || take(&rest, 0x2b), let hours = number(&rest, 2) else { return nil }
    _ = take(&rest, 0x3a)
    guard let minutes = number(&rest, 2), hours <= 23, minutes <= 59 else { return nil }
    let ahead = hours &* 60 &+ minutes
    return isWest ? 0 &- ahead : ahead
  }

  @inline(__always)
  private static func take(_ rest: inout ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest = rest.dropFirst()
    return true
  }

  @inline(__always)
  private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: Int) -> Int64? {
    guard rest.count >= digits else { return nil }
    var value: Int64 = 0
    for byte in rest.prefix(digits) {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      value = value &* 10 &+ Int64(byte &- 0x30)
    }
    rest = rest.dropFirst(digits)
    return value
  }
}
