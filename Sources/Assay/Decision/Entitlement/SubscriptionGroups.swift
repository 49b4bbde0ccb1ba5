/// The subscriptions of a decision: all transactions of one original transaction id and
/// environment.
struct SubscriptionGroups {
  /// The indexes of each subscription's candidates.
  private let subscriptions: [[Int]]

  init(_ candidates: [Candidate]) {
    subscriptions = EqualRuns.of(candidates.map { $0.facts.subscriptionId }, by: ScopedId.precedes)
  }

  // MARK: periods

  /// Marks periods as replaced if a later one of their subscription has begun, even one revoked
  /// since: stored evidence for a year must not outlive the upgrade that replaced it. A copy
  /// restored after its end replaces nothing (DCD-22).
  func replacePeriods(_ candidates: inout [Candidate], now: Int64) {
    for subscription in subscriptions {
      var latest: Int64? = nil
      for place in subscription {
        guard let began = candidates[place].began, began <= now,
          let start = candidates[place].start, let end = candidates[place].end, start <= end
        else { continue }
        latest = max(latest ?? began, began)
      }
      guard let latest else { continue }
      for place in subscription {
        guard let began = candidates[place].began, began < latest else { continue }
        candidates[place].isReplaced = true
      }
    }
  }

  // MARK: accounts

  /// Requires that the newest account token in the evidence of each subscription, of transactions
  /// and renewal info alike, is `account` (lower case). Evidence without a token does not erase
  /// one (DCD-20, DCD-24).
  func bind(
    _ candidates: inout [Candidate], to account: Text, _ policy: Configuration.DecisionPolicy,
    _ evidence: MergedEvidence, _ warnings: inout DecisionWarnings
  ) throws(Refusal) {
    for subscription in subscriptions {
      guard let first = subscription.first else { continue }
      let id = candidates[first].facts.subscriptionId
      var word = evidence.renewal(of: id)?.account
      var couldTell = false
      for place in subscription {
        word = StatedAccount.newer(word, candidates[place].account)
        if candidates[place].facts.canReport.contains(.account) { couldTell = true }
      }
      let binding: AccountBinding
      if let word {
        try require(
          word.token == account && !word.isDisputed, .rejectedAccountTokenMismatch, "DCD-20",
          at: Self.place(word.document))
        binding = .proven
      } else {
        try require(
          Self.mayBeUnproven(policy.accountToken, couldTell: couldTell),
          .rejectedAccountTokenMissing,
          "DCD-20", at: Self.place(candidates[first].document))
        warnings.unprovenAccount(id)
        binding = .unproven
      }
      for place in subscription { candidates[place].binding = binding }
    }
  }

  /// Whether the policy accepts a subscription without a token. Receipts never contain one: under
  /// `when-given` the ledger connects them with an account.
  private static func mayBeUnproven(
    _ policy: Configuration.DecisionPolicy.AccountToken, couldTell: Bool
  ) -> Bool {
    switch policy {
    case .whenGiven: return !couldTell
    case .required: return false
    case .ifPresent, .ignored: return true
    }
  }

  private static func place(_ document: Int) -> String {
    "evidence[" + String(document) + "]/appAccountToken"
  }
}
