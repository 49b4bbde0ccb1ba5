/// The check of the appAccountToken, which the app sets at the purchase, against the one that the
/// account expects (STO-43).
struct AccountTokenCheck: Sendable {
  /// The expected appAccountToken in lower case; `nil` if the request has none.
  private let expected: Text?
  private let policy: Configuration.DecisionPolicy.AccountToken

  /// - Parameter isOfAccount: Whether an account claims; `false` for evidence that Apple sent.
  /// - Throws: `misuse.decision.account` (DCD-20).
  init(
    _ node: MemberNode?, _ policy: Configuration.DecisionPolicy.AccountToken, isOfAccount: Bool
  ) throws(Refusal) {
    self.policy = policy
    guard let node, !node.value.isNull else {
      try require(
        policy != .required || !isOfAccount, .misuseDecisionAccount, "DCD-20", at: "accountToken")
      expected = nil
      return
    }
    let token = try node.text()
    try require(token.isUUID, .misuseDecisionAccount, "DCD-20", at: "accountToken")
    expected = token.asciiLowercased
  }

  /// Returns why `purchase` may not be used for the account; `nil` if it may.
  ///
  /// Only a JWS can contain a token, so that a missing one means none. Other evidence is accepted
  /// without a token, except under `required` (DCD-20).
  func refusal(_ purchase: LedgerPurchase) -> Refusal? {
    guard let expected, policy != .ignored else { return nil }
    if let token = purchase.accountToken {
      return token == expected
        ? nil : Refusal(.rejectedAccountTokenMismatch, "STO-43", at: "accountToken")
    }
    let couldTell = policy == .required || purchase.facts.canReport.contains(.account)
    guard policy != .ifPresent, couldTell else { return nil }
    return Refusal(.rejectedAccountTokenMissing, "DCD-20", at: "accountToken")
  }
}
