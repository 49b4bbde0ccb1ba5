/// The statements that change the tables of an older version into those of a newer one
/// (docs/spec/ledger-statements.md STM-8). MariaDB commits each change of a table by itself: there
/// each statement may be repeated until the version is written.
struct SchemaMigration: Sendable {
  let from: Int64
  let to: Int64

  static let all = [SchemaMigration(from: 1, to: 2)]
  /// The version to which all migrations lead.
  static let current: Int64 = 2

  /// Returns the statements to run beside those by which `SchemaTable` makes missing tables.
  func statements(_ engine: LedgerEngine) -> [StaticString] {
    switch engine {
    case .sqlite: return SchemaMigration.sqlite + SchemaMigration.rows
    case .postgres, .mariadb: return SchemaMigration.others + SchemaMigration.rows
    case .dynamodb, .redis: return []
    }
  }

  private static let sqlite: [StaticString] = [
    "ALTER TABLE assay_purchase ADD COLUMN units INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE assay_purchase ADD COLUMN granted_units INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE assay_purchase ADD COLUMN revocation_percentage INTEGER",
    "ALTER TABLE assay_purchase ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0",
  ]

  private static let others: [StaticString] = [
    "ALTER TABLE assay_purchase ADD COLUMN IF NOT EXISTS units BIGINT NOT NULL DEFAULT 1",
    "ALTER TABLE assay_purchase ADD COLUMN IF NOT EXISTS granted_units BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE assay_purchase ADD COLUMN IF NOT EXISTS revocation_percentage BIGINT",
    "ALTER TABLE assay_purchase ADD COLUMN IF NOT EXISTS repeats BIGINT NOT NULL DEFAULT 0",
  ]

  /// Old refunds count as taken back: the worth of a product at that time is unknown.
  private static let rows: [StaticString] = [
    """
    UPDATE assay_purchase SET units = quantity, \
    granted_units = CASE WHEN state = 'granted' THEN quantity ELSE 0 END, \
    repeats = CASE WHEN state = 'claimed' THEN fencing_token ELSE 0 END
    """,
    """
    UPDATE assay_purchase SET revocation_percentage = 100000, \
    lease_expires_at_ms = 9007199254740991 \
    WHERE state = 'revoked'
    """,
  ]
}
