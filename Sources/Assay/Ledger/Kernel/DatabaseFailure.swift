/// The reason why an engine did not execute a step, derived from its error code (STO-71).
struct DatabaseFailure {
  enum Kind {
    /// A conflict or a busy row: the statement did not run, and a repetition may succeed.
    case busy
    /// The statement may or may not have run.
    case unclear
    /// The session ended, and what it had not committed is undone (STO-39).
    case lost
    /// No connection was made (STO-77).
    case unreachable
    /// The statement cannot succeed: wrong syntax, missing rights, a full disk.
    case fatal
    /// The executor found that the connection does not lead to a primary (STO-74).
    case standby
    /// The executor found that Redis may evict keys (STO-83).
    case evicting
    /// The executor found that the grant ended its transaction or left it (STO-38).
    case transaction
  }

  /// The engine's error code, at most its first 64 bytes.
  let code: Text
  /// Whether the executor is certain that nothing was executed.
  private let didNotRun: Bool

  private static let codeCap = 64

  /// - Throws: `misuse.exchange.reply`.
  init(_ node: MemberNode) throws(Refusal) {
    let error = try node.object(["code", "text", "executed"])
    let code = try error.required("code").text()
    self.code = code.hasControlCharacter ? "" : Text(Array(code.utf8.prefix(Self.codeCap)))
    didNotRun = try error.present("executed")?.choice(["no", "unknown"]) == 0
  }

  /// Creates the failure of one item of a cancelled DynamoDB transaction, which executed nothing.
  init(reason code: Text) {
    self.code = code.hasControlCharacter ? "" : Text(Array(code.utf8.prefix(Self.codeCap)))
    didNotRun = true
  }

  /// Returns the kind of this failure.
  ///
  /// - Parameter isInTransaction: Whether the step ran in a transaction: its uncommitted
  ///   statements are undone, so that one stopped by a time limit can be repeated.
  func kind(_ engine: LedgerEngine, isInTransaction: Bool) -> Kind {
    if let kind = DatabaseFailure.executors.first(where: { isCode($0.code) })?.kind { return kind }
    let codes = Codes(engine)
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

  /// Codes that the executor reports, not the engine.
  private static let executors: [(code: StaticString, kind: Kind)] = [
    ("standby", .standby), ("connect", .unreachable), ("evicting", .evicting),
    ("transaction", .transaction),
  ]

  /// The error codes of one engine, by kind. A code in none of the lists is fatal.
  private struct Codes {
    var busy: [StaticString] = []
    /// Codes of connections that were not made.
    var unreachable: [StaticString] = []
    /// Codes of statements that a time limit stopped (STO-76).
    var stopped: [StaticString] = []
    /// Prefixes of codes that mean a lost session; the other lists have whole codes.
    var lost: [StaticString] = []
    var unclear: [StaticString] = []

    init(_ engine: LedgerEngine) {
      switch engine {
      case .sqlite: busy = ["5", "6", "9"]
      case .postgres:
        busy = ["40001", "40P01", "55P03", "57P03", "53300"]
        unreachable = ["08001", "08004"]
        stopped = ["57014"]
        lost = ["08", "57P01", "57P02", "25P03"]
      case .mariadb:
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
