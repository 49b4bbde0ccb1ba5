/// Reads the time of a request as logs write it.
enum RequestTime {
  /// The times that the library accepts, 2008 … 2100, in milliseconds since 1970 UTC.
  static let milliseconds: ClosedRange<Int64> = 1_199_145_600_000...4_102_444_800_000
  private static let seconds: ClosedRange<Int64> = 1_199_145_600...4_102_444_800

  /// Reads milliseconds or seconds since 1970 UTC from a number's text, which cannot be confused
  /// between 2008 and 2100; a fraction is allowed. `nil` for any other number.
  static func number(_ text: ArraySlice<UInt8>) -> Int64? {
    var whole: Int64 = 0
    var fraction: Int64 = 0
    var scale: Int64 = 100
    var isFraction = false
    for byte in text {
      switch byte {
      case 0x30...0x39 where isFraction:
        fraction += Int64(byte - 0x30) * scale
        scale /= 10
      case 0x30...0x39:
        guard whole < 1 << 53 else { return nil }
        whole = whole * 10 + Int64(byte - 0x30)
      case 0x2e where !isFraction: isFraction = true
      default: return nil
      }
    }
    if milliseconds.contains(whole) { return whole }
    return seconds.contains(whole) ? whole * 1000 + fraction : nil
  }

  /// Reads milliseconds from ISO 8601, or from digits as from a number; `nil` outside the times
  /// that the library accepts.
  static func text(_ text: [UInt8]) -> Int64? {
    if text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2e }) { return number(text[...]) }
    return date(text).flatMap { milliseconds.contains($0) ? $0 : nil }
  }

  /// Reads milliseconds from ISO 8601: `2026-01-31T12:00:00.250Z`, `2026-01-31 13:00:00+01:00`;
  /// without a zone it is UTC.
  static func date(_ text: [UInt8]) -> Int64? {
    var reader = FieldReader(text: text)
    guard let year = reader.field(4), reader.pass("-"), let month = reader.field(2),
      reader.pass("-"), let day = reader.field(2), (1...12).contains(month),
      day >= 1, day <= daysIn(month: month, year: year)
    else { return nil }
    var ms = days(year, month, day) * 86_400_000
    guard reader.pass("T") || reader.pass("t") || reader.pass(" ") else {
      return reader.isAtEnd ? ms : nil
    }
    guard let hour = reader.field(2), hour <= 23, reader.pass(":"),
      let minute = reader.field(2), minute <= 59
    else { return nil }
    ms += (hour * 60 + minute) * 60_000
    if reader.pass(":") {
      guard let second = reader.field(2), second <= 60 else { return nil }
      ms += min(second, 59) * 1000
      if reader.pass(".") || reader.pass(",") {
        guard let part = reader.fraction() else { return nil }
        ms += part
      }
    }
    guard let offset = reader.zone(), reader.isAtEnd else { return nil }
    ms -= offset
    return ms
  }

  /// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  private struct FieldReader {
    let text: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == text.count }

    mutating func pass(_ character: Unicode.Scalar) -> Bool {
      guard position < text.count, text[position] == UInt8(ascii: character) else {
        return false
      }
      position += 1
      return true
    }

    private mutating func digit() -> Int64? {
      guard position < text.count, text[position] >= 0x30, text[position] <= 0x39 else {
        return nil
      }
      position += 1
      return Int64(text[position - 1] - 0x30)
    }

    mutating func field(_ count: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// Reads the milliseconds; digits after the third are ignored.
    mutating func fraction() -> Int64? {
      guard let first = digit() else { return nil }
      var value = first * 100
      var scale: Int64 = 10
      while let next = digit() {
        value += next * scale
        scale /= 10
      }
      return value
    }

    /// Reads the offset of the zone in milliseconds east of UTC.
    mutating func zone() -> Int64? {
      if isAtEnd || pass("Z") || pass("z") { return 0 }
      let isEast = pass("+")
      guard isEast || pass("-"), let hours = field(2) else { return nil }
      _ = pass(":")
      let minutes = isAtEnd ? 0 : field(2)
      guard let minutes, hours <= 23, minutes <= 59 else { return nil }
      let offset = (hours * 60 + minutes) * 60_000
      return isEast ? offset : -offset
    }
  }
}
