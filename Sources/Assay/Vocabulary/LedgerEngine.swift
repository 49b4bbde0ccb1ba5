/// The database engine for which statements are written (docs/spec/ledger.md STO-13).
enum LedgerEngine: Int, Sendable, CaseIterable {
  case sqlite, postgres
  /// MariaDB. MySQL understands the statements, but was never tested.
  case mariadb
  case dynamodb, redis

  static let names: [StaticString] = ["sqlite", "postgres", "mariadb", "dynamodb", "redis"]

  /// Creates the engine with this configured name; `nil` if there is none.
  init?(_ name: Text) {
    guard
      let place = LedgerEngine.names.firstIndex(where: { name.utf8[...].elementsEqual($0) })
    else { return nil }
    self.init(rawValue: place)
  }

  var name: StaticString { LedgerEngine.names[rawValue] }

  /// Whether the engine's statements are SQL texts.
  var isSQL: Bool {
    switch self {
    case .sqlite, .postgres, .mariadb: return true
    case .dynamodb, .redis: return false
    }
  }

  /// Whether each of its statements goes to a server and back.
  var isSQLServer: Bool { self == .postgres || self == .mariadb }
}
