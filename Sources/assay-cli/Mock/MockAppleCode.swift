/// What one sign-in with Apple on a device led to.
struct MockAppleCode: Sendable {
  let clientId: String
  let subject: String
  let nonce: String?
  /// Milliseconds since 1970: the code ends five minutes later.
  let madeMs: Int64
  var isUsed = false
}
