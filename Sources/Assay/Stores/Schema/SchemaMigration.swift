/// The statements that change the tables of an older version into those of a newer one
/// (docs/spec/store-statements.md STM-8). MariaDB commits each change of a table by itself: there
/// each statement may be repeated until the version is written.
struct SchemaMigration: Sendable {
  let from: Int64
  let to: Int64

  static let all = [SchemaMigration(from: 1, to: 2)]
  /// The version to which all migrations lead.
  static let current: Int64 = 2

  /// Returns the statements to run beside those by which `SchemaTable` makes missing tables.
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

  /// Old refunds count as taken back: the worth of a product at that time is unknown.
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
