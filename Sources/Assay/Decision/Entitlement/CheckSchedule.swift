/// When a host should obtain newer evidence of a subscription (FLW-7). The times are exact; hosts
/// add their own jitter.
///
/// All values are milliseconds since 1970 UTC; every result is after `now`.
enum CheckSchedule {
  /// Returns the next check before the end. Apple charges a renewal about a day before the period
  /// ends: the first check is a day before the end, the second at the end.
  static func beforeEnd(_ end: Int64, now: Int64) -> Int64 {
    let dayBefore = Milliseconds.sum(end, -Milliseconds.day)
    return now < dayBefore ? dayBefore : end
  }

  /// Returns the next check after the end: after 5 minutes, 15 minutes, 1, 6 and 24 hours, then
  /// daily until the day `lastDay`, but daily only if Apple may still be trying to charge. `nil` if
  /// none follows.
  static func afterEnd(
    _ end: Int64, now: Int64, mayBeRetried: Bool, lastDay: Int64 = lastDay
  ) -> Int64? {
    for offset in firstLooks {
      let look = Milliseconds.sum(end, offset)
      if now < look { return look }
    }
    guard mayBeRetried else { return nil }
    for day in 2...lastDay {
      let look = Milliseconds.sum(end, day &* Milliseconds.day)
      if now < look { return look }
    }
    return nil
  }

  /// The number of days after the end during which Apple tries to charge.
  static let lastDay: Int64 = 60
  /// The same for a period of a commitment (CMT-5).
  static let lastDayOfCommitment: Int64 = 90

  private static let firstLooks: [Int64] = [
    5 * Milliseconds.minute, 15 * Milliseconds.minute, Milliseconds.hour,
    6 * Milliseconds.hour, Milliseconds.day,
  ]
}
