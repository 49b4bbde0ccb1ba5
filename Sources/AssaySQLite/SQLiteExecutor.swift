@_spi(AssaySwift) import struct Assay.DocumentValue
import AssaySwift
import CSQLite

extension Ledger {
  /// Creates a ledger in a file of SQLite 3.35 or later, for one machine: not on a network drive.
  ///
  ///     let ledger = try Ledger(sqlite: "/var/lib/shop.db", verifier)
  ///
  /// - Parameters:
  ///   - path: the absolute path, or one that begins with `./`. Only `createSchema` creates a
  ///     missing file.
  ///   - verifier: a verifier whose configuration has the block `ledger`.
  ///   - maxWait: the longest wait before a step.
  /// - Throws: `SQLiteError` for any other path, such as that of a database in memory.
  public init(
    sqlite path: String, _ verifier: Verifier, maxWait: Duration = .seconds(30)
  ) throws(SQLiteError) {
    let file = try SQLiteFile(path)
    self.init(verifier, engine: "sqlite", maxWait: maxWait) { SQLiteExecutor(file) }
  }
}

/// A file, and its idle connections.
public actor SQLiteFile {
  let path: String
  private var idle: [SQLiteConnection] = []
  private static let most = 16

  public init(_ path: String) throws(SQLiteError) {
    guard path.hasPrefix("/") || path.hasPrefix("./") else {
      throw SQLiteError(
        code: "\(SQLITE_CANTOPEN)", message: "write the path from the root, or from ./")
    }
    self.path = path
  }

  func take() throws(SQLiteError) -> SQLiteConnection {
    if let connection = idle.popLast() { return connection }
    return try SQLiteConnection(path)
  }

  func give(_ connection: SQLiteConnection) {
    if idle.count < SQLiteFile.most { idle.append(connection) }
  }
}

/// Performs the steps of one exchange in a file of SQLite.
///
/// In mode "transaction" a grant writes through the executor:
///
///     let claim = try await ledger.claim(
///       [transaction], account: account, grantMode: "transaction"
///     ) {
///       guard let database = $0.executor as? SQLiteExecutor else { return false }
///       try database.execute(
///         "INSERT INTO coins (grant_id, account, units) VALUES (?, ?, ?)",
///         [.text($0.grantId), .text($0.account), .integer($0.units)])
///       return true
///     }
public final class SQLiteExecutor: LedgerExecutor {
  private let file: SQLiteFile
  private var connection: SQLiteConnection?
  private var isBegun = false
  private var limits = SQLiteLimits()

  public init(_ file: SQLiteFile) { self.file = file }

  /// Runs one statement in the transaction of a claim and returns its rows. A statement that would
  /// end the transaction is refused, and the claim with it (STO-38).
  @discardableResult
  public func execute(
    _ sql: String, _ arguments: [SQLiteValue] = []
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    guard isBegun, let connection, connection.isOpen else { throw SQLiteError.transaction }
    return try connection.runOfHost(sql, arguments, limits)
  }

  public func run(_ step: JSON) async throws -> JSON {
    guard let step = DocumentValue(json: Array(step.text.utf8)),
      let id = step.member("id")?.integer
    else { throw SQLiteError(code: "\(SQLITE_MISUSE)", message: "a step is not of its form") }
    guard let calls = step.member("calls") else { return granted(id) }
    let mark = step.member("transaction")?.text
    var results: [JSON] = []
    do {
      if connection == nil { connection = try await file.take() }
      guard let connection else { throw SQLiteError.transaction }
      try carryOut(calls, mark, step.member("limits"), connection, &results)
      return ["id": JSON(id), "code": 200, "results": JSON(results)]
    } catch let error as SQLiteError {
      // Earlier statements are committed if each is its own transaction.
      let isCertain = undo() && (mark != nil || results.isEmpty)
      return SQLiteExecutor.failed(id, error, isCertain: isCertain)
    }
  }

  public func rollBack() async {
    _ = undo()
    if let connection { await file.give(connection) }
    connection = nil
  }

  public func prepare() async throws {
    _ = try SQLiteConnection(file.path, creates: true)
  }

  /// Truncates the write-ahead log, unless another connection reads it now.
  public func forgotten() async {
    _ = try? connection?.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func carryOut(
    _ calls: DocumentValue, _ mark: String?, _ given: DocumentValue?,
    _ connection: SQLiteConnection, _ results: inout [JSON]
  ) throws(SQLiteError) {
    limits = SQLiteLimits()
    if let statement = given?.member("statementMs")?.integer { limits.statement = statement }
    if let lock = given?.member("lockMs")?.integer { limits.lock = lock }
    switch mark {
    case "begin", "single":
      try connection.rollBack()
      try connection.begin(limits)
      isBegun = true
    case nil: connection.limit(limits)
    default: guard isBegun, connection.isOpen else { throw SQLiteError.transaction }
    }
    for (_, call) in calls.children {
      let arguments = call.member("args")?.children.map { SQLiteValue($0.value) } ?? []
      let sql = SQLiteExecutor.known(call.member("sql")?.text ?? "")
      let rows = try connection.run(sql, arguments, limits)
      let hasRows = call.member("returnsRows")?.boolean == true
      results.append(hasRows ? ["rows": JSON(rows.map { JSON($0.map(\.json)) })] : [:])
    }
    if mark == "commit" || mark == "single" {
      try connection.run("COMMIT")
      isBegun = false
    }
  }

  /// Returns the reply to a grant step. The open transaction is still that of the claim, because
  /// nothing else can begin one.
  private func granted(_ id: Int64) -> JSON {
    if isBegun, let connection, connection.isOpen, !connection.wantedEnd {
      return ["id": JSON(id), "code": 200]
    }
    _ = undo()
    return SQLiteExecutor.failed(id, .transaction, isCertain: false)
  }

  /// Rolls back, and returns whether nothing is left of a transaction. A connection that cannot
  /// roll back is closed.
  private func undo() -> Bool {
    isBegun = false
    do {
      try connection?.rollBack()
      return true
    } catch {
      connection = nil
      return false
    }
  }

  private static func failed(_ id: Int64, _ error: SQLiteError, isCertain: Bool) -> JSON {
    [
      "id": JSON(id), "code": 500,
      "error": [
        "code": JSON(error.code), "text": JSON(error.message),
        "executed": isCertain ? "no" : "unknown",
      ],
    ]
  }

  /// Returns the statement without STRICT, which SQLite supports since 3.37.
  private static func known(_ sql: String) -> String {
    let isOld = sqlite3_libversion_number() < 3_037_000 && sql.hasPrefix("CREATE TABLE")
    return isOld ? sql.replacing(" STRICT,", with: "") : sql
  }
}

extension SQLiteValue {
  init(_ value: DocumentValue) {
    if let integer = value.signedInteger {
      self = .integer(integer)
    } else {
      self = value.text.map { .text($0) } ?? .null
    }
  }

  var json: JSON {
    switch self {
    case .text(let text): JSON(text)
    case .integer(let integer): JSON(integer)
    case .null: nil
    }
  }
}
