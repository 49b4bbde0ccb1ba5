/// A month of the Gregorian calendar in UTC. DeviceCheck dates its bits by month only, so that no
/// day is ever derived from one (docs/spec/device-check.md §2.2).
struct CalendarMonth: Sendable, Equatable {
  let year: Int64
  /// 1 to 12.
  let month: Int64

  /// Parses `YYYY-MM` with a year of 2000 to 9999; `nil` for any other form.
  init?(_ text: Text) {
    let bytes = text.utf8
    // A sign instead of a digit gives a number below the ranges.
    guard bytes.count == 7, bytes[4] == 0x2d,
      let year = JSONValue.integer(bytes[..<4]), let month = JSONValue.integer(bytes[5...]),
      year >= 2000, month >= 1, month <= 12
    else { return nil }
    self.year = year
    self.month = month
  }

  /// Returns the month of a time in milliseconds since 1970 UTC, which must not be negative.
  init(ofMs milliseconds: Int64) {
    let date = CivilDate.date(days: milliseconds / 86_400_000)
    year = date.year
    month = date.month
  }

  /// Returns the number of months from this one to `later`; negative if `later` is earlier.
  func months(until later: CalendarMonth) -> Int64 {
    (later.year &- year) &* 12 &+ later.month &- month
  }

  /// The month as `YYYY-MM`.
  var text: Text {
    func digit(_ value: Int64) -> UInt8 { 0x30 &+ UInt8(truncatingIfNeeded: value % 10) }
    return Text([
      digit(year / 1000), digit(year / 100), digit(year / 10), digit(year), 0x2d,
      digit(month / 10), digit(month),
    ])
  }
}
