extension TimeWindow {
  /// Requires `now_ms` to be in the same range of dates as signed dates (JWS-41).
  static func checkNow(_ nowMs: Int64) throws(Refusal) {
    try require(contains(nowMs), .misuseCallNow, "JWS-41", at: "now_ms")
  }
}
