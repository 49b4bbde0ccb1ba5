/// The header `Retry-After` of a 429 or 503 (VRR-4).
enum RetryAfter {
  /// At most a day: anything longer means "not soon".
  private static let cap: Int64 = 86_400

  /// Whole seconds; 0 for a date or anything else, for which the kind's own back-off
  /// applies.
  static func milliseconds(_ text: Text) -> Int64 {
    guard text.isDecimal else { return 0 }
    let seconds = text.count > 9 ? cap : JSONValue.integer(text.utf8[...]) ?? 0
    return min(seconds, cap) &* 1000
  }
}
