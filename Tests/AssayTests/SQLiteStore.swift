import AssayAuthority
import CSQLite
import Testing

@testable import Assay

/// A host's SQLite database in memory, on which the steps of exchanges are run.
@safe final class SQLiteStore {
  private var handle: OpaquePointer?
  /// The verifier whose exchanges run on this database.
  let verifier: Verifier
  /// The replies given instead of running a step, by its number from 1 on; a step may run all the
  /// same and only lose its reply.
  var faults: [Int: Fault] = [:]
  /// The number of steps of all exchanges.
  private(set) var steps = 0
  /// The transaction marks of all steps.
  private(set) var marks: [String?] = []

  /// The host's reply to a grant step.
  enum Granted {
    case granted, failed
    /// The session was lost during the grant.
    case lost
    /// The grant was refused with the code of the engine or of an executor.
    case refused(String)
  }

  enum Fault {
    case lost(carriedOut: Bool)
    case failed(String)
    case answer(String)
  }

  /// - Parameter hasTables: Whether the tables exist; otherwise the file is empty.
  init(_ changes: [(String, JSONText)] = [], hasTables: Bool = true) throws {
    verifier = try Minted.verifier(SQLiteStore.catalogue + changes)
    checkEqual(unsafe sqlite3_open(":memory:", &handle), SQLITE_OK)
    guard hasTables else { return }
    for table in SchemaTable.allCases {
      try run("\(try require(table.create(.sqlite)))", [])
      for index in table.indexes { try run("\(index)", []) }
    }
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  static let coins = "com.example.app.coins"
  static let premium = "com.example.app.premium.monthly"
  static let lifetime = "com.example.app.lifetime"

  static let catalogue: [(String, JSONText)] = [
    ("plans", ["free", "standard", "premium"]),
    (
      "products",
      [
        "com.example.app.premium.monthly": [
          "type": "auto-renewable", "plan": "premium", "group": "21400001",
        ],
        "com.example.app.standard.monthly": [
          "type": "auto-renewable", "plan": "standard", "group": "21400001",
        ],
        "com.example.app.coins": ["type": "consumable"],
        "com.example.app.lifetime": ["type": "non-consumable", "plan": "standard"],
      ]
    ),
    (
      "quotas",
      [
        "free": ["free": 5, "premium": 0], "standard": ["free": 5, "premium": 2],
        "premium": ["free": 5, "premium": 3],
      ]
    ),
    ("ledger", ["engine": "sqlite"]),
  ]

  // MARK: evidence

  /// Returns a verified transaction.
  func transaction(_ change: (inout Purchase) -> Void = { _ in }) throws -> Document {
    var purchase = Minted.purchase
    change(&purchase)
    let jws = try Minted.authority().mint(purchase.transactionPayload)
    let document = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
    return document
  }

  /// Returns the verified transaction receipt of a purchase of coins.
  func receipt(_ authority: ReceiptAuthority) throws -> Document {
    var purchase = Minted.purchase
    purchase.type = .consumable
    purchase.productId = SQLiteStore.coins
    purchase.expiresDate = nil
    purchase.webOrderLineItemId = nil
    let document = verifier.verifyReceipt(
      try authority.transactionReceipt(purchase), kind: .transaction, subject: nil,
      nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
    return document
  }

  // MARK: exchanges

  /// Runs an exchange to its end.
  @discardableResult
  func run(
    _ request: JSONText, _ evidence: [Document] = [], now: Int64 = Minted.now,
    grant: (Document) -> Bool = { _ in true }
  ) throws -> Document {
    try run(request, evidence, now: now, granting: { grant($0) ? .granted : .failed })
  }

  @discardableResult
  func run(
    _ request: JSONText, _ evidence: [Document], now: Int64 = Minted.now,
    granting grant: (Document) -> Granted
  ) throws -> Document {
    var (exchange, document) = verifier.startExchange(
      request.bytes, evidence: evidence, nowMs: now)
    var clock = now
    while let open = exchange, document.status.family == .pending {
      let answer = try answer(to: document, &clock, grant)
      document = open.step(Array(answer.utf8), nowMs: clock)
      if document.status.family == .misuse { break }
    }
    exchange = nil
    try rollBack()
    return document
  }

  private func answer(
    to document: Document, _ clock: inout Int64, _ grant: (Document) -> Granted
  ) throws -> String {
    switch document.status {
    case .pendingExchangeWait:
      clock = try require(document.integer("exchange.notBeforeMs"))
      return "{}"
    case .pendingExchangeGrant:
      let id = try require(document.integer("exchange.grant.id"))
      switch grant(document) {
      case .granted: return "{\"id\":\(id),\"code\":200}"
      case .failed: return "{\"id\":\(id),\"code\":500}"
      case .lost:
        try rollBack()
        return "{\"id\":\(id),\"code\":0}"
      case .refused(let code):
        try rollBack()
        return
          "{\"id\":\(id),\"code\":500,\"error\":{\"code\":\"\(code)\",\"executed\":\"unknown\"}}"
      }
    default:
      let root = try JSONReader.readObject(document.json, caps: .evidence).root
      let step = try require(root.member("exchange")?.member("database"))
      return try carryOut(step)
    }
  }

  /// Runs one step in its order; rolls back at the first failure.
  private func carryOut(_ step: JSONValue) throws -> String {
    steps += 1
    let id = try require(step.member("id")?.integer)
    let fault = faults[steps]
    switch fault {
    case .answer(let text): return text.replacing("ID", with: "\(id)")
    case .failed(let code):
      try rollBack()
      return "{\"id\":\(id),\"code\":500,\"error\":{\"code\":\"\(code)\",\"executed\":\"no\"}}"
    case .lost(carriedOut: false):
      try rollBack()
      return "{\"id\":\(id),\"code\":0}"
    case .lost(carriedOut: true), nil: break
    }
    let transaction = step.member("transaction")?.text
    marks.append(transaction?.string)
    if transaction == "begin" || transaction == "single" { try run("BEGIN IMMEDIATE", []) }
    var results: [String] = []
    for call in try require(step.member("calls")).children {
      let sql = try require(call.member("sql")?.text).string
      let arguments = Array(try require(call.member("args")).children)
      let rows = try run(sql, arguments)
      let hasRows = call.member("returnsRows")?.boolean == true
      check(hasRows || rows.isEmpty, "\(sql)")
      results.append(hasRows ? "{\"rows\":[\(rows.joined(separator: ","))]}" : "{}")
    }
    if transaction == "commit" || transaction == "single" { try run("COMMIT", []) }
    if fault != nil {
      try rollBack()
      return "{\"id\":\(id),\"code\":0}"
    }
    return "{\"id\":\(id),\"code\":200,\"results\":[\(results.joined(separator: ","))]}"
  }

  /// Rolls back, as a session does that ends.
  private func rollBack() throws {
    if unsafe sqlite3_get_autocommit(handle) == 0 { try run("ROLLBACK", []) }
  }

  // MARK: SQLite

  /// Runs a statement and returns every row as a JSON array.
  @discardableResult
  func run(_ sql: String, _ arguments: [JSONValue]) throws -> [String] {
    var statement: OpaquePointer?
    let prepared = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    try require(prepared == SQLITE_OK, "\(sql): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    defer { unsafe sqlite3_finalize(statement) }
    let expected = unsafe sqlite3_bind_parameter_count(statement)
    try require(expected == Int32(arguments.count))
    for (place, value) in arguments.enumerated() {
      unsafe bind(statement, Int32(place + 1), value)
    }
    var rows: [String] = []
    while true {
      let state = unsafe sqlite3_step(statement)
      if state == SQLITE_DONE { return rows }
      try require(state == SQLITE_ROW, "\(sql)")
      let count = unsafe sqlite3_column_count(statement)
      let columns = (0..<count).map { unsafe column(statement, $0) }
      rows.append("[\(columns.joined(separator: ","))]")
    }
  }

  private func bind(_ statement: OpaquePointer?, _ place: Int32, _ value: JSONValue) {
    if let text = value.text {
      // SQLite copies the text: SQLITE_TRANSIENT.
      let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      unsafe sqlite3_bind_text(statement, place, text.string, -1, copies)
    } else if let number = value.integer {
      unsafe sqlite3_bind_int64(statement, place, number)
    } else {
      unsafe sqlite3_bind_null(statement, place)
    }
  }

  private func column(_ statement: OpaquePointer?, _ place: Int32) -> String {
    switch unsafe sqlite3_column_type(statement, place) {
    case SQLITE_INTEGER: return "\(unsafe sqlite3_column_int64(statement, place))"
    case SQLITE_TEXT:
      var writer = JSONWriter()
      writer.string(unsafe String(cString: sqlite3_column_text(statement, place)))
      return String(decoding: writer.bytes, as: UTF8.self)
    default: return "null"
    }
  }
}
