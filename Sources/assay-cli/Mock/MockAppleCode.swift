/// A code that one sign-in with Apple on a device returned.
struct MockAppleCode: Sendable {
  let clientId: String
  let subject: String
  let nonce: String?
  /// The time of the sign-in in milliseconds since 1970 UTC; the code expires five minutes later.
  let madeMs: Int64
  var isUsed = false
}
