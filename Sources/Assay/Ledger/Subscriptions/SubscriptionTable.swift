/// Subscriptions and their owners.
protocol SubscriptionTable: AnyObject {
  func subscription(environment: Text, _ id: Text) throws(LedgerSuspension) -> SubscriptionRow?

  /// Inserts the subscription, binds it to its first owner, and overwrites it with later evidence
  /// of that owner (STO-40).
  ///
  /// - Parameter next: The row to store. Its owner is empty for evidence from Apple, which never
  ///   changes the owner.
  /// - Returns: The row before, `nil` for a new one, and the row as stored afterwards.
  func apply(
    _ next: SubscriptionRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> (before: SubscriptionRow?, after: SubscriptionRow)

  /// Transfers the subscription to another owner, with strictly newer evidence and not too soon
  /// after the last transfer (STO-42). Returns the row as stored afterwards.
  func move(
    _ next: SubscriptionRow, _ evidence: StoredEvidence, from owner: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> SubscriptionRow

  /// Returns the subscriptions of an account, the newest first; at most 50.
  func subscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow]

  /// Deactivates all subscriptions of an account, and returns them as stored afterwards (STO-46).
  func deactivateSubscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow]

  /// Reserves subscriptions whose check is due until `leaseMs`; at most 25 (STO-48).
  func leaseDueSubscriptions(leaseMs: Int64) throws(LedgerSuspension) -> [SubscriptionRow]

  /// Schedules the next check of each subscription whose lease this sweeper still holds.
  func scheduleNextChecks(_ rows: [SubscriptionRow], leaseMs: Int64) throws(LedgerSuspension)
}
