/// Apple's questions about refunds, and what came of them: one row for each transaction (RFA-51).
protocol RefundTable: AnyObject {
  /// Changes a case under its lock.
  ///
  /// - Returns: The row before and after; `nil` if there is none, and the change needs one.
  func changeRefund(
    _ change: RefundChange
  ) throws(LedgerSuspension) -> (before: RefundRow, after: RefundRow)?

  /// Takes open cases that nobody has, those with less time first; at most 25.
  func takeDueRefunds(attemptId: Text, leaseMs: Int64) throws(LedgerSuspension) -> [RefundRow]

  /// Returns the cases of a time after a place; at most 25 are looked at.
  ///
  /// - Parameters:
  ///   - environment: Their environment; empty for all.
  ///   - times: When Apple asked, in milliseconds since 1970 UTC.
  /// - Returns: The cases, and the place of the next page; `nil` if this is the last one.
  func refunds(
    areOpen: Bool, in environment: Text, _ times: ClosedRange<Int64>, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [RefundRow], next: DifferencePlace?)

  /// Returns of each case what the ledger has of its purchase.
  func refundSubjects(_ rows: [RefundRow]) throws(LedgerSuspension) -> [RefundSubject]

  /// Returns how many of an account's newest 100 purchases since then there are, and how many of
  /// them are revoked.
  func refundHistories(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [RefundCase.History]
}
