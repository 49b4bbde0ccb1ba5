/// A row as its format gives it, and what was beside it.
struct ReadRow {
  var row = MigrateRow()
  /// Names of members that no row has.
  var unknown: [String] = []
  /// The store of a row that is not Apple's, which is only counted.
  var skipped: String?
}
