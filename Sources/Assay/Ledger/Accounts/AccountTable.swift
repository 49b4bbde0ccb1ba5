/// All rows of an account, and the audit rows: what was done to which account and when, for support
/// staff (STM-2).
protocol AccountTable: AnyObject {
  /// Merges an account into another one (STO-92).
  func merge(_ operation: MergeAccounts) throws(LedgerSuspension) -> OperationResult

  /// Forgets the account and those merged into it, and replaces their ids by the hash (STO-93).
  func forget(_ operation: ForgetAccount) throws(LedgerSuspension) -> OperationResult

  /// Inserts audit rows in one step, each unless it is stored already.
  func insert(_ rows: [AuditRow]) throws(LedgerSuspension)
}
