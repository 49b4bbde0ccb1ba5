/// The database that `--ledger` names.
enum DatabaseURL {
  /// Connects.
  ///
  /// - Throws: `misuse.migrate.url`, `unsupported.migrate.store`.
  static func connection(_ url: String) throws -> any DatabaseConnection {
    let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw refusal(url) }
    switch parts[0] {
    case "sqlite": return try SQLiteLedger(String(parts[1]))
    case "postgresql", "postgres":
      // libpq reads the rest of the URL, and repeats a part of it that it cannot use: what stands
      // before the last @ must not have a password, whatever signs are in that.
      let user = parts[1].lastIndex(of: "@").map { parts[1][..<$0] } ?? ""
      guard parts[1].hasPrefix("//"), !user.contains(":"),
        !parts[1].split(separator: "=", omittingEmptySubsequences: false).dropLast()
          .contains(where: { $0.hasSuffix("password") })
      else { throw refusal(url) }
      return try PostgresLedger(url)
    case "mysql", "mariadb":
      guard let place = DatabasePlace(parts[1]) else { throw refusal(url) }
      return try MariaDBLedger(place)
    default: throw refusal(url)
    }
  }

  private static func refusal(_ url: String) -> MigrateFault {
    let scheme = url.prefix { $0 != ":" }.prefix(32)
    return MigrateFault(
      "misuse.migrate.url",
      "--ledger \(Terminal.safe(String(scheme)))…: give sqlite:PATH, "
        + "postgresql://user@host/database or mysql://user@host/database; the password belongs "
        + "into PGPASSWORD or MYSQL_PWD", exitCode: 2)
  }
}
