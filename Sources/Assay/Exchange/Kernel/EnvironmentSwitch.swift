/// Allows one change of Apple's environment in an exchange. Each server can name the other; to
/// follow both without a count would never end.
struct EnvironmentSwitch: Equatable {
  /// 0 or 1.
  private(set) var count: Int64 = 0

  /// Counts a change of environment. Returns `false` for the second, which is not allowed.
  mutating func allowsNext() -> Bool {
    guard count == 0 else { return false }
    count = 1
    return true
  }
}
