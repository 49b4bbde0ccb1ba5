/// The dates that any conversion or comparison may meet (JWS-41, PAY-6).
enum TimeWindow {
  /// 2008-01-01 UTC in milliseconds.
  static let start: Int64 = 1_199_145_600_000
  /// 2100-01-01 UTC in milliseconds; no longer inside.
  static let end: Int64 = 4_102_444_800_000
  /// The last millisecond that a time of a payload may name.
  static let lastPayloadTime: Int64 = 4_102_444_800_000

  static func contains(_ milliseconds: Int64) -> Bool {
    milliseconds >= start && milliseconds < end
  }
}
