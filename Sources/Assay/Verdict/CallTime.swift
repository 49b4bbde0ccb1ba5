extension TimeWindow {
  /// JWS-41: `now_ms` must lie in the same window as signed dates.
  static func checkNow(_ nowMs: Int64) throws(Refusal) {
    try require(contains(nowMs), .misuseCallNow, "JWS-41", at: "now_ms")
  }
}
