/// The range of dates that Assay converts and compares, in milliseconds since 1970 UTC (JWS-41,
/// PAY-6).
enum TimeWindow {
  /// 2008-01-01 UTC, the first instant of the range.
  static let start: Int64 = 1_199_145_600_000
  /// 2100-01-01 UTC, the first instant after the range.
  static let end: Int64 = 4_102_444_800_000
  /// The last instant that a time in a payload may be: 2100-01-01 UTC, included.
  static let lastPayloadTime: Int64 = 4_102_444_800_000

  static func contains(_ milliseconds: Int64) -> Bool {
    milliseconds >= start && milliseconds < end
  }
}
