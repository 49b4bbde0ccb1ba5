/// The most steps that a conversation gives out (EXC-15).
struct StepBound: Sendable {
  private let fixed: Int
  private let perPurchase: Int
  private let perLine: Int

  init(_ fixed: Int, perPurchase: Int = 0, perLine: Int = 0) {
    self.fixed = fixed
    self.perPurchase = perPurchase
    self.perLine = perLine
  }

  /// 0: done at once.
  func most(purchases: Int = 0, lines: Int = 0) -> Int {
    fixed &+ perPurchase &* purchases &+ perLine &* lines
  }
}
