extension CalendarDuration {
  /// Returns the moment that is this duration after `startMs`, at the same time of day in UTC.
  /// The day is clamped to the length of the month: 31 January + P1M is the last day of February
  /// (DCD-16).
  ///
  /// - `startMs` and the result: milliseconds since 1970 UTC; Int64.max if the result is beyond
  ///   Int64.
  func end(startMs: Int64) -> Int64 {
    switch unit {
    case .day: return Self.later(startMs, days: count)
    case .week: return Self.later(startMs, days: Milliseconds.product(count, 7))
    case .month: return Self.later(startMs, months: count)
    case .year: return Self.later(startMs, months: Milliseconds.product(count, 12))
    }
  }

  /// Returns the end of `times` consecutive durations, each from the end of the previous one;
  /// less than one counts as one (DCD-28).
  func end(startMs: Int64, times: Int64) -> Int64 {
    var end = end(startMs: startMs)
    var left = min(max(times, 1), 1_000_000) &- 1
    // After four years of single steps, no month clamps the day any further.
    var steps = 0
    while left > 0, steps < 48 {
      end = self.end(startMs: end)
      left &-= 1
      steps &+= 1
    }
    guard left > 0 else { return end }
    return CalendarDuration(count: Milliseconds.product(count, left), unit: unit)
      .end(startMs: end)
  }

  private static func later(_ startMs: Int64, days: Int64) -> Int64 {
    Milliseconds.sum(startMs, Milliseconds.product(days, Milliseconds.day))
  }

  private static func later(_ startMs: Int64, months: Int64) -> Int64 {
    let (startDay, timeOfDay) = divide(startMs, by: Milliseconds.day)
    let start = CivilDate.date(days: startDay)
    let month = Milliseconds.sum(
      Milliseconds.sum(Milliseconds.product(start.year, 12), start.month &- 1), months)
    let (year, monthIndex) = divide(month, by: 12)
    let day = min(
      start.day, CivilDate.daysInMonth(year: year, month: monthIndex &+ 1))
    let endDay = CivilDate.days(year: year, month: monthIndex &+ 1, day: day)
    return Milliseconds.sum(Milliseconds.product(endDay, Milliseconds.day), timeOfDay)
  }

  /// Divides rounding down, with a remainder of 0 ..< divisor.
  private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    let rest = value % divisor
    let quotient = value / divisor
    return rest < 0 ? (quotient &- 1, rest &+ divisor) : (quotient, rest)
  }
}
