/// When a host should look for newer evidence of a subscription (FLW-7 and the
/// flow above it). Exact times: the jitter is the host's.
///
/// All values are milliseconds since 1970 UTC; every answer lies after `now`.
enum CheckSchedule {
  /// A renewal is charged about a day before the period ends: the first look is
  /// a day before the end, the next one at the end.
  static func beforeEnd(_ end: Int64, now: Int64) -> Int64 {
    let dayBefore = Milliseconds.sum(end, -Milliseconds.day)
    return now < dayBefore ? dayBefore : end
  }

  /// Looks 5 minutes, 15 minutes, 1, 6 and 24 hours after the end, then every
  /// day up to the 60th, the last days only where Apple may still be trying.
  static func afterEnd(_ end: Int64, now: Int64, mayBeRetried: Bool) -> Int64? {
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

  /// Apple tries to charge for up to 60 days after the end.
  static let lastDay: Int64 = 60
  static let retrySpan = lastDay &* Milliseconds.day

  private static let firstLooks: [Int64] = [
    5 * Milliseconds.minute, 15 * Milliseconds.minute, Milliseconds.hour,
    6 * Milliseconds.hour, Milliseconds.day,
  ]
}
