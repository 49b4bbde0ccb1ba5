/// The local time of Apple's headquarters, in which verifyReceipt writes every date once more, by
/// a table of the rules instead of a time-zone database (VRE-26).
enum PacificTime {
  /// When summer time begins and ends, from one year on.
  private struct Rule {
    /// The first Sunday on or after this day of the month, and the hour UTC.
    let begins: (month: Int64, day: Int64, hour: Int64)
    let ends: (month: Int64, day: Int64, hour: Int64)
    let firstYear: Int64
  }

  /// The rules, the newest first. A change of the law is one more row.
  private static let rules = [
    Rule(begins: (3, 8, 10), ends: (11, 1, 9), firstYear: 2007)
  ]

  /// Returns local time as if it were UTC. Both are seconds since 1970; a year before the first
  /// rule has winter time.
  static func local(seconds: Int64) -> Int64 {
    seconds &- (isSummer(seconds) ? 25_200 : 28_800)
  }

  private static func isSummer(_ seconds: Int64) -> Bool {
    let year = CivilDate.date(days: seconds / 86_400).year
    guard let rule = rules.first(where: { year >= $0.firstYear }) else { return false }
    return seconds >= instant(year, rule.begins) && seconds < instant(year, rule.ends)
  }

  private static func instant(
    _ year: Int64, _ change: (month: Int64, day: Int64, hour: Int64)
  ) -> Int64 {
    let first = CivilDate.days(year: year, month: change.month, day: change.day)
    // 1970-01-01 was a Thursday; the weekday counts from Sunday.
    let weekday = (first &+ 4) % 7
    return (first &+ (7 &- weekday) % 7) &* 86_400 &+ change.hour &* 3600
  }
}
