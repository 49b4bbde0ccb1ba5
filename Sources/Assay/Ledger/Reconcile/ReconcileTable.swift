/// Runs of `reconcile`, the differences that they find, and the rows that they look at. A row that
/// is returned is the one stored afterwards, whether the change was made or not.
protocol ReconcileTable: AnyObject {
  // MARK: runs

  func runRow(_ id: Text) throws(LedgerSuspension) -> RunRow?

  /// Inserts the run if its app has none.
  func insert(_ run: RunRow) throws(LedgerSuspension) -> RunRow

  /// Takes an open run whose lease has expired.
  ///
  /// - Parameter run: The row with the attempt and the lease to store.
  func take(_ run: RunRow) throws(LedgerSuspension) -> RunRow

  /// Begins the next run in the row of a finished one.
  ///
  /// - Parameter last: The run that must be stored.
  func begin(_ run: RunRow, after last: Text) throws(LedgerSuspension) -> RunRow

  /// Stores differences, and then the place, the state and the lease of the run, if this attempt
  /// still has it (RCN-11).
  func move(_ run: RunRow, _ changes: [DifferenceChange]) throws(LedgerSuspension) -> RunRow

  // MARK: differences

  /// Returns the difference of each id; `nil` where there is none.
  func differences(_ ids: [Text]) throws(LedgerSuspension) -> [DifferenceRow?]

  /// Returns the differences of a state after a place, the oldest first; at most 25 are looked at.
  ///
  /// - Parameters:
  ///   - environment: The environment of the differences; empty for all.
  ///   - kind: Their kind; `nil` for all.
  /// - Returns: The differences, and the place of the next page; `nil` if this is the last one.
  func differences(
    areOpen: Bool, in environment: Text, _ kind: DifferenceKind?, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [DifferenceRow], next: DifferencePlace?)

  /// Closes an open difference for a person.
  ///
  /// - Returns: Whether the difference was open, and its row; `nil` if there is none.
  func close(_ id: Text, note: Text) throws(LedgerSuspension) -> (isMade: Bool, row: DifferenceRow)?

  // MARK: rows to look at

  /// Returns the purchases of a state whose lease ended at `beforeMs` or earlier, ordered by that
  /// time and the key; at most 25 are looked at. Nothing is taken over.
  ///
  /// - Returns: The rows, and the place of the next page; `nil` if this is the last one.
  func purchasesLeft(
    _ state: LedgerRow.State, in environment: Text, beforeMs: Int64, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [LedgerRow], next: DifferencePlace?)

  /// Returns the subscriptions whose check is due; at most 25. Nothing is leased.
  func subscriptionsLeft(in environment: Text) throws(LedgerSuspension) -> [SubscriptionRow]
}
