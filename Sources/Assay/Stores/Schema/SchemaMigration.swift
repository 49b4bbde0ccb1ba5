/// What makes the tables of an older version those of this one (docs/spec/store-statements.md
/// STM-8). On MariaDB, which commits each change of a table by itself, each may be repeated
/// before the version is written.
struct SchemaMigration: Sendable {
  let from: Int64
  let to: Int64

  static let all = [SchemaMigration(from: 1, to: 2)]
  /// The version that these statements make.
  static let current: Int64 = 2

  /// Beside what `SchemaTable` makes where it is not there.
  func statements(_ dialect: StoreDialect) -> [StaticString] {
    switch dialect {
    case .sqlite: return SchemaMigration.sqlite + SchemaMigration.rows
    case .postgres, .mysql: return SchemaMigration.others + SchemaMigration.rows
    case .dynamodb, .redis: return []
    }
  }

  private static let sqlite: [StaticString] = [
    "ALTER TABLE assay_ledger ADD COLUMN units INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE assay_ledger ADD COLUMN out_n INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE assay_ledger ADD COLUMN revoked_pct INTEGER",
    "ALTER TABLE assay_ledger ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0",
  ]

  private static let others: [StaticString] = [
    "ALTER TABLE assay_ledger ADD COLUMN IF NOT EXISTS units BIGINT NOT NULL DEFAULT 1",
    "ALTER TABLE assay_ledger ADD COLUMN IF NOT EXISTS out_n BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE assay_ledger ADD COLUMN IF NOT EXISTS revoked_pct BIGINT",
    "ALTER TABLE assay_ledger ADD COLUMN IF NOT EXISTS repeats BIGINT NOT NULL DEFAULT 0",
  ]

  /// Old refunds count as taken back; nobody knows what an item was worth then.
  private static let rows: [StaticString] = [
    """
    UPDATE assay_ledger SET units = quantity, \
    out_n = CASE WHEN state = 'granted' THEN quantity ELSE 0 END, \
    repeats = CASE WHEN state = 'claimed' THEN tries ELSE 0 END
    """,
    """
    UPDATE assay_ledger SET revoked_pct = 100000, lease_ms = 9007199254740991 \
    WHERE state = 'revoked'
    """,
  ]
}
