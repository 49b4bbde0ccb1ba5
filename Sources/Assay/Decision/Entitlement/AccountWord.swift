/// An appAccountToken in lower case, and who said so as of when (DCD-24).
struct AccountWord: Sendable {
  var token: Text
  var asOf: Int64
  var document: Int
  /// Evidence of the same millisecond carries another token: it belongs to no one.
  var isDisputed = false

  /// The newer of two statements.
  static func newer(_ one: AccountWord?, _ other: AccountWord?) -> AccountWord? {
    guard var one else { return other }
    guard let other else { return one }
    if one.asOf != other.asOf { return one.asOf > other.asOf ? one : other }
    if one.token != other.token || other.isDisputed { one.isDisputed = true }
    one.document = min(one.document, other.document)
    return one
  }
}
