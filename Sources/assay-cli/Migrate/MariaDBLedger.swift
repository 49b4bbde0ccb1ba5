import CSystem

/// A database of MariaDB, by the machine's libmariadb. The password is in MYSQL_PWD.
@safe
final class MariaDBLedger: DatabaseConnection {
  let engine = "mariadb"
  let placeholders = "qmark"

  private let functions: UnsafeMutablePointer<system_mariadb>
  private let place: DatabasePlace
  private var handle: UnsafeMutableRawPointer?
  /// The prepared statements of this connection, by their text.
  private var statements: [String: UnsafeMutableRawPointer] = unsafe [:]

  private static let settings = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION innodb_lock_wait_timeout = 10",
  ]

  init(_ place: DatabasePlace) throws {
    let functions = UnsafeMutablePointer<system_mariadb>.allocate(capacity: 1)
    unsafe functions.initialize(to: system_mariadb())
    unsafe self.functions = unsafe functions
    self.place = place
    guard unsafe system_mariadb_load(functions) == 1 else {
      throw MigrateFault(
        "unsupported.migrate.store", "libmariadb.so.3 is not on this machine: install libmariadb3",
        exitCode: 2)
    }
    do throws(DatabaseFault) {
      try connect()
      let rows = try run("SELECT @@global.read_only", [])
      guard rows.first?.first?.integer == 0 else {
        throw DatabaseFault(code: "standby", message: "it cannot be written", remedy: .ends)
      }
    } catch { throw error.problem }
  }

  deinit {
    close()
    unsafe functions.deallocate()
  }

  private func close() {
    unsafe statements.values.forEach { unsafe system_mariadb_end(functions, $0) }
    unsafe statements = [:]
    if let handle = unsafe handle { unsafe system_mariadb_close(functions, handle) }
    unsafe handle = nil
  }

  private func connect() throws(DatabaseFault) {
    close()
    var failed: Int32 = 1
    unsafe handle = unsafe system_mariadb_connect(
      functions, place.host, place.user, place.database, UInt32(place.port), &failed)
    if failed != 0 { throw fault() }
    for setting in MariaDBLedger.settings { try command(setting) }
  }

  func begin() throws(DatabaseFault) {
    if unsafe handle == nil { try connect() }
    try command("START TRANSACTION")
  }

  func commit() throws(DatabaseFault) { try command("COMMIT") }

  func rollBack() {
    guard unsafe handle != nil else { return }
    do { try command("ROLLBACK") } catch { close() }
  }

  private func command(_ sql: String) throws(DatabaseFault) {
    guard unsafe handle != nil, unsafe system_mariadb_query(functions, handle, sql) == 0 else {
      throw fault()
    }
  }

  @discardableResult
  func run(
    _ sql: String, _ arguments: [DatabaseValue]
  ) throws(DatabaseFault) -> [[DatabaseValue]] {
    let statement = unsafe try prepared(sql)
    guard unsafe Int(system_mariadb_parameters(functions, statement)) == arguments.count else {
      throw DatabaseFault(code: "parameters", message: "", remedy: .ends)
    }
    var types: [Int32] = []
    var integers: [Int64] = []
    var texts: [String?] = []
    for value in arguments {
      switch value {
      case .text(let text):
        types.append(Int32(SYSTEM_MARIADB_STRING))
        texts.append(text)
        integers.append(0)
      case .integer(let integer):
        types.append(Int32(SYSTEM_MARIADB_LONGLONG))
        texts.append(nil)
        integers.append(integer)
      case .null:
        types.append(Int32(SYSTEM_MARIADB_NULL))
        texts.append(nil)
        integers.append(0)
      }
    }
    let code = unsafe CTexts(texts).with { values in
      unsafe system_mariadb_execute(
        functions, statement, Int32(types.count), types, values, &integers)
    }
    defer { unsafe system_mariadb_free(functions, statement) }
    guard code == 0 else { throw unsafe fault(of: statement) }
    let columns = unsafe system_mariadb_columns(functions, statement)
    var rows: [[DatabaseValue]] = []
    while columns > 0, unsafe system_mariadb_fetch(functions, statement) != 0 {
      rows.append((0..<columns).map { unsafe column($0, statement) })
    }
    return rows
  }

  private func prepared(_ sql: String) throws(DatabaseFault) -> UnsafeMutableRawPointer {
    if let known = unsafe statements[sql] { return unsafe known }
    guard unsafe handle != nil else { throw fault() }
    var failed: Int32 = 1
    guard let made = unsafe system_mariadb_prepare(functions, handle, sql, &failed) else {
      throw fault()
    }
    guard failed == 0 else {
      defer { unsafe system_mariadb_end(functions, made) }
      throw unsafe fault(of: made)
    }
    unsafe statements[sql] = unsafe made
    return unsafe made
  }

  private func column(_ place: UInt32, _ statement: UnsafeMutableRawPointer) -> DatabaseValue {
    var bytes = [CChar](repeating: 0, count: 1024)
    var count = unsafe system_mariadb_column(functions, statement, place, &bytes, 1024)
    if count > 1024 {
      bytes = [CChar](repeating: 0, count: count)
      count = unsafe system_mariadb_column(functions, statement, place, &bytes, UInt(count))
    }
    if count < 0 { return .null }
    return .text(String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  // MARK: faults

  /// The codes after which a batch is repeated: conflicts, time limits, lost sessions.
  private static let passing: Set<UInt32> = [
    1205, 1213, 1040, 1969, 2002, 2003, 2005, 2006, 2013, 2014, 2055, 4031,
  ]
  private static let lost: Set<UInt32> = [2006, 2013, 2014, 2055, 4031]

  private func fault(of statement: UnsafeMutableRawPointer) -> DatabaseFault {
    let code = unsafe system_mariadb_statement_number(functions, statement)
    return fault(code, unsafe String(cString: system_mariadb_statement_error(functions, statement)))
  }

  private func fault() -> DatabaseFault {
    guard unsafe handle != nil else { return fault(2006, "the connection is lost") }
    let code = unsafe system_mariadb_number(functions, handle)
    return fault(code, unsafe String(cString: system_mariadb_error(functions, handle)))
  }

  private func fault(_ code: UInt32, _ message: String) -> DatabaseFault {
    if MariaDBLedger.lost.contains(code) { close() }
    return DatabaseFault(
      code: "\(code)", message: message,
      remedy: MariaDBLedger.passing.contains(code) ? .repeats : .ends)
  }
}
