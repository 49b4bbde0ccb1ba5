import AssayAuthority

/// One request as the log has it: nothing that could be a secret.
struct MockLogEntry: Sendable {
  let method: String
  let host: String
  let path: String
  /// 0: none was sent.
  let status: Int
  let atMs: Int64

  var json: JSONText {
    [
      "method": .string(method), "host": .string(host), "path": .string(path),
      "status": .integer(Int64(status)), "atMs": .integer(atMs),
    ]
  }
}
