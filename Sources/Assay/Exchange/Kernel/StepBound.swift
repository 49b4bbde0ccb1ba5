/// The most steps that an exchange issues (EXC-15).
struct StepBound: Sendable {
  private let fixed: Int
  private let perPurchase: Int
  private let perSubscription: Int

  init(_ fixed: Int, perPurchase: Int = 0, perSubscription: Int = 0) {
    self.fixed = fixed
    self.perPurchase = perPurchase
    self.perSubscription = perSubscription
  }

  /// Returns the bound for a request; 0 if the operation has no steps.
  func most(purchases: Int = 0, subscriptions: Int = 0) -> Int {
    fixed &+ perPurchase &* purchases &+ perSubscription &* subscriptions
  }
}
