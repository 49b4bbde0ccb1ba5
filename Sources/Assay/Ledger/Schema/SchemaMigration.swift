/// The statements that change the tables of an older version into those of a newer one
/// (docs/spec/ledger-statements.md STM-8). MariaDB commits each change of a table by itself: there
/// each statement may be repeated until the version is written.
struct SchemaMigration: Sendable {
  let from: Int64
  let to: Int64

  static let all = [SchemaMigration(from: 1, to: 2), SchemaMigration(from: 2, to: 3)]
  /// The version to which all migrations lead.
  static let current: Int64 = 3

  /// Returns the statements to run beside those by which `SchemaTable` makes missing tables.
  ///
  /// - Parameter hasEvidence: Whether there is a table of kept texts, which is an option.
  func statements(_ engine: LedgerEngine, hasEvidence: Bool) -> [StaticString] {
    switch (engine, from) {
    case (.sqlite, 1): return SchemaMigration.sqlite + SchemaMigration.rows
    case (.postgres, 1), (.mariadb, 1): return SchemaMigration.others + SchemaMigration.rows
    case (.sqlite, _):
      return SchemaMigration.sqliteCommitments
        + (hasEvidence ? ["ALTER TABLE assay_evidence ADD COLUMN bundle_id TEXT"] : [])
    case (.postgres, _):
      return SchemaMigration.otherCommitments
        + ["ALTER TABLE IF EXISTS assay_evidence ADD COLUMN IF NOT EXISTS bundle_id TEXT"]
    case (.mariadb, _):
      return SchemaMigration.otherCommitments
        + ["ALTER TABLE IF EXISTS assay_evidence ADD COLUMN IF NOT EXISTS bundle_id VARCHAR(255)"]
    case (.dynamodb, _), (.redis, _): return []
    }
  }

  private static let sqliteCommitments: [StaticString] = [
    "ALTER TABLE assay_subscription ADD COLUMN commitment_ends_at_ms INTEGER",
    "ALTER TABLE assay_subscription ADD COLUMN commitment_period INTEGER",
    "ALTER TABLE assay_subscription ADD COLUMN commitment_of INTEGER",
  ]

  private static let otherCommitments: [StaticString] = [
    "ALTER TABLE assay_subscription ADD COLUMN IF NOT EXISTS commitment_ends_at_ms BIGINT",
    "ALTER TABLE assay_subscription ADD COLUMN IF NOT EXISTS commitment_period BIGINT",
    "ALTER TABLE assay_subscription ADD COLUMN IF NOT EXISTS commitment_of BIGINT",
  ]

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
