/// The members of Apple's responses that this version knows, at any depth (API-30). One table is
/// enough, because Apple gives no name two meanings.
enum AppStoreResponseMembers {
  static let table = MemberTable([
    Member("signedTransactionInfo", .text), Member("signedTransactions", .texts),
    Member("signedRenewalInfo", .text), Member("signedAppTransactionInfo", .text),
    Member("signedPayload", .text), Member("environment", .text), Member("bundleId", .text),
    Member("appAppleId", .integer), Member("revision", .text), Member("paginationToken", .text),
    Member("hasMore", .boolean), Member("data", .objects(AppStoreResponseMembers.none)),
    Member("lastTransactions", .objects(AppStoreResponseMembers.none)),
    Member("subscriptionGroupIdentifier", .text), Member("status", .integer),
    Member("originalTransactionId", .text),
    Member("notificationHistory", .objects(AppStoreResponseMembers.none)),
    Member("sendAttempts", .objects(AppStoreResponseMembers.none)),
    Member("attemptDate", .time), Member("sendAttemptResult", .text),
    Member("testNotificationToken", .text), Member("webOrderLineItemId", .text),
    Member("success", .boolean), Member("effectiveDate", .time),
    Member("requestIdentifier", .text), Member("complete", .boolean),
    Member("completeDate", .time), Member("succeededCount", .integer),
    Member("failedCount", .integer),
  ])

  /// Whether a member of the response itself is reported under `unsigned`.
  static func isReported(_ member: JSONValue) -> Bool {
    table.index(of: member) != nil && !elsewhere.contains { member.isNamed($0) }
  }

  /// The members whose content is reported elsewhere in the result, after its verification.
  private static let elsewhere: [StaticString] = [
    "signedTransactionInfo", "signedTransactions", "signedRenewalInfo",
    "signedAppTransactionInfo", "signedPayload", "data", "notificationHistory", "sendAttempts",
  ]

  /// Nested objects have no table of their own: `table` has their members too.
  private static let none = MemberTable([])

  /// Refuses a known member of another type. A member that is null counts as absent.
  ///
  /// - Parameter path: the path of the object; empty, or with a dot at its end.
  static func check(_ object: JSONValue, at path: String) throws(Refusal) {
    for value in object.children where !value.isNull {
      guard let index = table.index(of: value) else { continue }
      let member = table.members[index]
      try require(
        member.shape.accepts(value), .malformedAppStoreResponse, "API-30",
        at: path + Text(stringLiteral: member.name).string)
    }
  }
}
