/// Where a database is: `//user@host:port/database`, a URL behind its scheme.
struct DatabasePlace {
  let host: String
  let user: String
  let port: Int
  let database: String

  /// Reads a URL; `nil` for another form, and for one with a password.
  init?(_ url: Substring) {
    guard url.hasPrefix("//") else { return nil }
    let parts = url.dropFirst(2).split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, !parts[1].contains("?") else { return nil }
    let names = parts[0].split(separator: "@", omittingEmptySubsequences: false)
    guard names.count <= 2, let last = names.last else { return nil }
    let address = last.split(separator: ":", omittingEmptySubsequences: false)
    guard address.count <= 2, let first = address.first else { return nil }
    user = names.count == 2 ? String(names[0]) : ""
    guard !user.contains(":") else { return nil }
    host = first.isEmpty ? "localhost" : String(first)
    guard let port = address.count == 2 ? Int(address[1]) : 0, (0...65_535).contains(port) else {
      return nil
    }
    self.port = port
    database = String(parts[1])
  }
}
