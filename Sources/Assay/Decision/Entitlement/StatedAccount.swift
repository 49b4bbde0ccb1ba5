/// An appAccountToken in lower case, with the time and the document that state it (DCD-24).
struct StatedAccount: Sendable {
  var token: Text
  var asOfMs: Int64
  var document: Int
  /// Whether evidence of the same millisecond states another token, so that no account
  /// matches.
  var isDisputed = false

  /// Returns the newer of two statements.
  static func newer(_ one: StatedAccount?, _ other: StatedAccount?) -> StatedAccount? {
    guard var one else { return other }
    guard let other else { return one }
    if one.asOfMs != other.asOfMs { return one.asOfMs > other.asOfMs ? one : other }
    if one.token != other.token || other.isDisputed { one.isDisputed = true }
    one.document = min(one.document, other.document)
    return one
  }
}
