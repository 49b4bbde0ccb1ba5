/// An ISO 8601 duration of one unit: `PnD`, `PnW`, `PnM` or `PnY` (DCD-16).
struct CalendarDuration: Sendable, Equatable {
  enum Unit: Sendable, Equatable { case day, week, month, year }
  /// 1 to 9999.
  var count: Int64
  var unit: Unit
}
