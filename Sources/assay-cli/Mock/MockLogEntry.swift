import AssayAuthority

/// A request in the log, without anything that could be secret.
struct MockLogEntry: Sendable {
  let method: String
  let host: String
  let path: String
  /// The status of the response; 0 if none was sent.
  let status: Int
  let atMs: Int64

  var json: JSONText {
    [
      "method": .string(method), "host": .string(host), "path": .string(path),
      "status": .integer(Int64(status)), "atMs": .integer(atMs),
    ]
  }
}
