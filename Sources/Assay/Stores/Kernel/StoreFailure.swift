/// Why an engine did not carry out a step, by its own code (STO-71).
struct StoreFailure {
  enum Kind {
    /// It did not run and may run now: a conflict, a busy row.
    case busy
    /// Nobody knows whether it ran.
    case unclear
    /// The session is gone, and with it what it had not committed (STO-39).
    case lost
    /// No connection was made (STO-77).
    case unreachable
    /// It will not run: syntax, rights, a full disk.
    case fatal
    /// The executor found that the connection leads to no primary (STO-74).
    case standby
    /// The executor found that Redis may evict keys (STO-83).
    case evicting
    /// The executor found that the grant did not leave its transaction alone (STO-38).
    case transaction
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

  /// - Parameter isInTransaction: what did not end in it was undone.
  func kind(_ dialect: StoreDialect, isInTransaction: Bool) -> Kind {
    if let kind = StoreFailure.executors.first(where: { isCode($0.code) })?.kind { return kind }
    let codes = Codes(dialect)
    if codes.busy.contains(where: isCode) { return .busy }
    if codes.unreachable.contains(where: isCode) { return .unreachable }
    let isSure = didNotRun || isInTransaction
    if codes.stopped.contains(where: isCode) { return isSure ? .busy : .unclear }
    if codes.lost.contains(where: { code.starts(with: $0) }) {
      return didNotRun && !isInTransaction ? .busy : .lost
    }
    if codes.unclear.contains(where: isCode) { return didNotRun ? .busy : .unclear }
    return .fatal
  }

  func isCode(_ code: StaticString) -> Bool { self.code.utf8[...].elementsEqual(code) }

  /// What an executor says of itself.
  private static let executors: [(code: StaticString, kind: Kind)] = [
    ("standby", .standby), ("connect", .unreachable), ("evicting", .evicting),
    ("transaction", .transaction),
  ]

  /// Those of one engine; of what is in none of the lists it will not run.
  private struct Codes {
    var busy: [StaticString] = []
    /// Where the connection was not made.
    var unreachable: [StaticString] = []
    /// Of a statement that its time limit has stopped (STO-76).
    var stopped: [StaticString] = []
    /// Beginnings of codes.
    var lost: [StaticString] = []
    var unclear: [StaticString] = []

    init(_ dialect: StoreDialect) {
      switch dialect {
      case .sqlite: busy = ["5", "6", "9"]
      case .postgres:
        busy = ["40001", "40P01", "55P03", "57P03", "53300"]
        unreachable = ["08001", "08004"]
        stopped = ["57014"]
        lost = ["08", "57P01", "57P02", "25P03"]
      case .mysql:
        busy = ["1205", "1213", "1040"]
        unreachable = ["2002", "2003", "2005"]
        stopped = ["1969"]
        lost = ["2006", "2013"]
      case .dynamodb:
        busy = [
          "ProvisionedThroughputExceededException", "ThrottlingException",
          "RequestLimitExceeded", "TransactionConflictException",
          "TransactionInProgressException", "TransactionConflict", "ThrottlingError",
          "ProvisionedThroughputExceeded",
        ]
        unclear = ["InternalServerError", "ServiceUnavailable"]
      case .redis: busy = ["LOADING", "TRYAGAIN", "CLUSTERDOWN", "BUSY"]
      }
    }
  }
}

extension Text {
  fileprivate func starts(with prefix: StaticString) -> Bool {
    let prefix = Text(stringLiteral: prefix)
    return utf8.starts(with: prefix.utf8)
  }
}
