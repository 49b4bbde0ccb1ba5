/// What a store says of its own tables (STM-8).
struct SchemaRow: Sendable {
  static let columns: [StaticString] = ["id", "version", "lineage", "made_ms"]

  /// 0: they are being made.
  let version: Int64
  /// Of the host that made them: other tables under the same name have another one (STO-78).
  let lineage: Text

  init(_ row: StoreRow) throws(StoreStop) {
    var row = row
    _ = try row.text()
    version = try row.integer()
    lineage = try row.text()
    _ = try row.integer()
    try row.end()
  }
}
