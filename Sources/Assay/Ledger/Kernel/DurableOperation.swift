/// An operation on tables whose rows may not be lost.
protocol DurableOperation: LedgerOperation {
  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult
}

extension DurableOperation {
  /// Runs the operation; the exchange has refused Redis before (STO-13).
  func run(_ session: LedgerSession) throws(LedgerSuspension) -> OperationResult {
    switch session.context.engine {
    case .sqlite, .postgres, .mariadb: return try run(SQLDatabase(session))
    case .dynamodb: return try run(DynamoDatabase(session))
    case .redis: throw .outOfStep
    }
  }
}
