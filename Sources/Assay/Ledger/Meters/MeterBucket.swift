/// A span of calendar time in which a counter counts (STO-54).
struct MeterBucket: Sendable {
  let name: Text
  /// The beginning of the next span, in milliseconds since 1970 UTC.
  let endMs: Int64

  /// Returns the day of `nowMs`, named `YYYY-MM-DD`. The day begins `offsetMinutes` before that of
  /// UTC (STO-52).
  static func day(_ nowMs: Int64, offsetMinutes: Int64 = 0) -> MeterBucket {
    let offsetMs = offsetMinutes &* Milliseconds.minute
    let day = floored(nowMs &+ offsetMs, Milliseconds.day)
    let date = CivilDate.date(days: day)
    let name =
      digits(date.year, 4) + [0x2d] + digits(date.month, 2) + [0x2d] + digits(date.day, 2)
    return MeterBucket(name: Text(name), endMs: (day &+ 1) &* Milliseconds.day &- offsetMs)
  }

  /// Returns the second of `nowMs`, named by its number since 1970 UTC.
  static func second(_ nowMs: Int64) -> MeterBucket {
    let second = floored(nowMs, 1000)
    return MeterBucket(name: Text(String(second)), endMs: (second &+ 1) &* 1000)
  }

  /// Creates the day that a ticket names; `nil` if there is no such day.
  init?(day name: Text) {
    let parts = name.utf8.split(separator: 0x2d, omittingEmptySubsequences: false)
    guard parts.map({ $0.count }) == [4, 2, 2],
      let year = JSONValue.plainInteger(parts[0]), let month = JSONValue.plainInteger(parts[1]),
      let day = JSONValue.plainInteger(parts[2]), (1...12).contains(month),
      day >= 1, day <= CivilDate.daysInMonth(year: year, month: month)
    else { return nil }
    let days = CivilDate.days(year: year, month: month, day: day)
    self.init(name: name, endMs: (days &+ 1) &* Milliseconds.day)
  }

  private init(name: Text, endMs: Int64) {
    self.name = name
    self.endMs = endMs
  }

  /// Returns the whole spans since 1970 UTC. Division rounds down: all clocks lie in 2008 … 2100.
  private static func floored(_ timeMs: Int64, _ spanMs: Int64) -> Int64 { timeMs / spanMs }

  private static func digits(_ number: Int64, _ count: Int) -> [UInt8] {
    let text = Array(String(number).utf8)
    return [UInt8](repeating: 0x30, count: max(0, count &- text.count)) + text
  }
}

extension JSONValue {
  /// Reads an integer that consists of decimal digits only, leading zeros included.
  fileprivate static func plainInteger(_ text: ArraySlice<UInt8>) -> Int64? {
    guard text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return text.reduce(0) { $0 &* 10 &+ Int64($1 &- 0x30) }
  }
}
