/// STO-43: whether evidence may be used for the account that asks, by the token that the
/// app set when buying.
struct AccountCheck: Sendable {
  /// The expected appAccountToken in lower case; nil: none was given.
  private let expected: Text?
  private let policy: Configuration.DecidePolicy.Account

  /// - Parameter isOfAccount: false for evidence that comes from Apple, without an account.
  /// - Throws: `misuse.decide.account` (DCD-20).
  init(
    _ node: MemberNode?, _ policy: Configuration.DecidePolicy.Account, isOfAccount: Bool
  ) throws(Refusal) {
    self.policy = policy
    guard let node, !node.value.isNull else {
      try require(
        policy != .required || !isOfAccount, .misuseDecideAccount, "DCD-20", at: "accountToken")
      expected = nil
      return
    }
    let token = try node.text()
    try require(token.isUUID, .misuseDecideAccount, "DCD-20", at: "accountToken")
    expected = token.asciiLowercased
  }

  /// Only a JWS can carry a token: its silence means none. The ledger binds what cannot
  /// carry one, except under `required` (DCD-20).
  func refusal(_ purchase: StorePurchase) -> Refusal? {
    guard let expected, policy != .ignored else { return nil }
    if let token = purchase.accountToken {
      return token == expected
        ? nil : Refusal(.rejectedAccountTokenMismatch, "STO-43", at: "accountToken")
    }
    let couldTell = policy == .required || purchase.facts.shows.contains(.account)
    guard policy != .ifPresent, couldTell else { return nil }
    return Refusal(.rejectedAccountTokenMissing, "DCD-20", at: "accountToken")
  }
}
