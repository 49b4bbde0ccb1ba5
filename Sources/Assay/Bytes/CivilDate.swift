/// The proleptic Gregorian calendar in UTC, computed in integers, without `mktime` and locales
/// (JWS-32, DCD-16).
enum CivilDate {
  /// Returns the days from 1970-01-01 to a date of the years 0 to 9999. `month` is 1 to 12.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Counts years from March, so that the leap day is the last day of its year.
    let shifted = month <= 2 ? year &- 1 : year
    let era = (shifted >= 0 ? shifted : shifted &- 399) / 400
    let yearOfEra = shifted &- era &* 400
    let monthFromMarch = (month &+ 9) % 12
    let dayOfYear = (153 &* monthFromMarch &+ 2) / 5 &+ day &- 1
    let dayOfEra = yearOfEra &* 365 &+ yearOfEra / 4 &- yearOfEra / 100 &+ dayOfYear
    return era &* 146_097 &+ dayOfEra &- 719_468
  }

  /// Returns the date that is `days` after 1970-01-01.
  static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days &+ 719_468
    let era = (shifted >= 0 ? shifted : shifted &- 146_096) / 146_097
    let dayOfEra = shifted &- era &* 146_097
    let yearOfEra =
      (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
    let monthFromMarch = (5 &* dayOfYear &+ 2) / 153
    let day = dayOfYear &- (153 &* monthFromMarch &+ 2) / 5 &+ 1
    let month = monthFromMarch < 10 ? monthFromMarch &+ 3 : monthFromMarch &- 9
    let year = yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0)
    return (year, month, day)
  }

  static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  /// Returns 28 to 31. `month` is 1 to 12.
  static func daysInMonth(year: Int64, month: Int64) -> Int64 {
    switch month {
    case 2: return isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Parses an ASN.1 time into seconds since 1970 UTC: `YYMMDDHHMMSSZ` with two year digits (50
  /// and later: 19YY), `YYYYMMDDHHMMSSZ` with four; `nil` for any other form or a date that does
  /// not exist.
  static func seconds(asn1 text: ArraySlice<UInt8>, yearDigits: Int) -> Int64? {
    guard text.count == yearDigits &+ 11, text.last == 0x5a else { return nil }
    var digits = text.dropLast()
    func take(_ count: Int) -> Int64? {
      var value: Int64 = 0
      for digit in digits.prefix(count) {
        guard digit >= 0x30, digit <= 0x39 else { return nil }
        value = value &* 10 &+ Int64(digit &- 0x30)
      }
      digits = digits.dropFirst(count)
      return value
    }
    guard var year = take(yearDigits), let month = take(2), let day = take(2),
      let hour = take(2), let minute = take(2), let second = take(2)
    else { return nil }
    if yearDigits == 2 { year = year >= 50 ? year &+ 1900 : year &+ 2000 }
    guard month >= 1, month <= 12, day >= 1, day <= daysInMonth(year: year, month: month),
      hour <= 23, minute <= 59, second <= 59
    else { return nil }
    return days(year: year, month: month, day: day) &* 86_400
      &+ hour &* 3600 &+ minute &* 60 &+ second
  }
}
