/// Why an engine did not carry out a step, by its own code (STO-71).
struct StoreFailure {
  enum Kind {
    /// It did not run and may run now: a conflict, a busy row.
    case busy
    /// Nobody knows whether it ran.
    case unclear
    /// It will not run: syntax, rights, a full disk.
    case fatal
    /// The executor found that the connection leads to no primary (STO-74).
    case standby
  }

  /// The engine's, at most 64 characters of it.
  let code: Text
  /// The executor is certain that nothing was carried out.
  private let didNotRun: Bool

  private static let codeCap = 64

  /// - Throws: `misuse.exchange.answer`.
  init(_ node: MemberNode) throws(Refusal) {
    let error = try node.object(["code", "text", "executed"])
    let code = try error.required("code").text()
    self.code = code.hasControlCharacter ? "" : Text(Array(code.utf8.prefix(Self.codeCap)))
    didNotRun = try error.present("executed")?.choice(["no", "unknown"]) == 0
  }

  /// Of one item of a cancelled transaction.
  init(reason code: Text) {
    self.code = code.hasControlCharacter ? "" : Text(Array(code.utf8.prefix(Self.codeCap)))
    didNotRun = true
  }

  func kind(_ dialect: StoreDialect) -> Kind {
    if code.utf8[...].elementsEqual("standby" as StaticString) { return .standby }
    let table = StoreFailure.codes(dialect)
    if table.busy.contains(where: { code.utf8[...].elementsEqual($0) }) { return .busy }
    if table.unclear.contains(where: { code.starts(with: $0) }) {
      return didNotRun ? .busy : .unclear
    }
    return .fatal
  }

  /// The unclear ones are beginnings of codes.
  private static func codes(
    _ dialect: StoreDialect
  ) -> (busy: [StaticString], unclear: [StaticString]) {
    switch dialect {
    case .sqlite: return (["5", "6"], [])
    case .postgres:
      return (["40001", "40P01", "55P03"], ["08", "57014", "57P01", "57P02", "57P03"])
    case .mysql: return (["1205", "1213", "1040"], ["2002", "2003", "2006", "2013"])
    case .dynamodb:
      return (
        [
          "ProvisionedThroughputExceededException", "ThrottlingException",
          "RequestLimitExceeded", "TransactionConflictException",
          "TransactionInProgressException", "TransactionConflict", "ThrottlingError",
          "ProvisionedThroughputExceeded",
        ], ["InternalServerError", "ServiceUnavailable"]
      )
    case .redis: return (["LOADING", "TRYAGAIN", "CLUSTERDOWN", "BUSY"], [])
    }
  }
}

extension Text {
  fileprivate func starts(with prefix: StaticString) -> Bool {
    let prefix = Text(stringLiteral: prefix)
    return utf8.starts(with: prefix.utf8)
  }
}
