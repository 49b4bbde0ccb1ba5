/// At most one change of Apple's environment in a conversation: following both
/// without counting would go back and forth for ever.
struct OneHop: Equatable {
  /// 0 or 1.
  private(set) var count: Int64 = 0

  /// Whether this hop is allowed; the first one is.
  mutating func take() -> Bool {
    guard count == 0 else { return false }
    count = 1
    return true
  }
}
