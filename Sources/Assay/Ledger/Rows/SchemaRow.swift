/// The row in which a database stores the version and origin of the ledger's tables (STM-8).
struct SchemaRow: Sendable {
  static let columns: [StaticString] = ["id", "version", "lineage", "created_at_ms"]

  /// The version of the schema; 0 while the tables are being made.
  let version: Int64
  /// The random text that the host chose when it made the tables: other tables under the same
  /// name have another one (STO-78).
  let lineage: Text

  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    _ = try row.text()
    version = try row.integer()
    lineage = try row.text()
    _ = try row.integer()
    try row.end()
  }
}
