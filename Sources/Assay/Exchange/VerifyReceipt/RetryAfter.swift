/// Reads the header `Retry-After` of a 429 or 503 (VRR-4).
enum RetryAfter {
  /// A day in seconds; a longer wait is cut to it.
  private static let cap: Int64 = 86_400

  /// Returns the wait in milliseconds; 0 if the header is not a number of seconds, so that the
  /// operation's own back-off applies.
  static func milliseconds(_ text: Text) -> Int64 {
    guard text.isDecimal else { return 0 }
    let seconds = text.count > 9 ? cap : JSONValue.integer(text.utf8[...]) ?? 0
    return min(seconds, cap) &* 1000
  }
}
