/// The tables of the ledger in an engine, as the operations of a session use them. Each requirement
/// is one conditional change or one read; what it means is left to the operations.
protocol LedgerDatabase: AnyObject {
  var session: LedgerSession { get }

  /// Makes the tables if there are none, and migrates those of an older version (STO-78).
  ///
  /// - Parameter lineage: The host's random text for tables that are made.
  func createSchema(_ lineage: Text) throws(LedgerSuspension) -> OperationResult

  /// Checks the tables, and that the server is a primary that keeps its data (STM-1, STM-7).
  func checkSchema() throws(LedgerSuspension) -> CheckSchema.Found
}
