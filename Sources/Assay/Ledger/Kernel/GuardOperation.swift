/// An operation on tables that every engine has.
protocol GuardOperation: LedgerOperation {
  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult
}

extension GuardOperation {
  func run(_ session: LedgerSession) throws(LedgerSuspension) -> OperationResult {
    switch session.context.engine {
    case .sqlite, .postgres, .mariadb: return try run(SQLDatabase(session))
    case .dynamodb: return try run(DynamoDatabase(session))
    case .redis: return try run(RedisDatabase(session))
    }
  }
}
