/// An account that a request has restricted, or found restricted.
struct RestrictedAccount: Sendable {
  let account: Text
  /// Its role at the download; `nil` if a person named the account.
  let role: CustomerRole?
  let restrictedAtMs: Int64
  /// Whether this exchange restricted it.
  var changed: Bool

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("account", account)
    writer.member("role", role.map { Text(stringLiteral: $0.name) })
    writer.member("restrictedAtMs", integer: restrictedAtMs)
    writer.member("changed", boolean: changed)
    writer.endObject()
  }
}
