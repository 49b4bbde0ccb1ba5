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
    Member("subscriptionGroupIdentifier", .text), Member("status", .number(0...5)),
    Member("originalTransactionId", .text),
    Member("notificationHistory", .objects(AppStoreResponseMembers.none)),
    Member("sendAttempts", .objects(AppStoreResponseMembers.none)),
    Member("attemptDate", .time),
    Member("sendAttemptResult", .name(AppStoreValueSets.sendAttemptResult)),
    Member("testNotificationToken", .text), Member("webOrderLineItemId", .text),
    Member("success", .boolean), Member("effectiveDate", .time),
    Member("requestIdentifier", .text), Member("complete", .boolean),
    Member("completeDate", .time), Member("succeededCount", .integer),
    Member("failedCount", .integer),
    Member("imageIdentifiers", .objects(AppStoreResponseMembers.none)),
    Member("imageIdentifier", .text), Member("imageState", .name(AppStoreValueSets.imageState)),
    Member("imageSize", .name(AppStoreValueSets.imageSize)),
    Member("messageIdentifiers", .objects(AppStoreResponseMembers.none)),
    Member("messageIdentifier", .text),
    Member("messageState", .name(AppStoreValueSets.messageState)), Member("realtimeURL", .text),
    Member("requestId", .text), Member("config", .object(AppStoreResponseMembers.none)),
    Member("maxConcurrentRequests", .integer), Member("totalRequests", .integer),
    Member("totalDuration", .integer), Member("responseTimeThreshold", .integer),
    Member("successRateThreshold", .integer), Member("target", .text),
    Member("result", .name(AppStoreValueSets.performanceTestStatus)),
    Member("successRate", .integer), Member("numPending", .integer),
    Member("responseTimes", .object(AppStoreResponseMembers.none)),
    Member("average", .integer), Member("p50", .integer), Member("p90", .integer),
    Member("p95", .integer), Member("p99", .integer),
    Member("failures", .object(AppStoreResponseMembers.none)),
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

  /// Whether Apple has documented the value, if the member has a set of values.
  private static func isKnown(_ value: JSONValue, _ shape: Shape) -> Bool {
    switch shape {
    case .name(let known):
      return value.text.map { text in
        known.contains { text.utf8[...].elementsEqual($0) }
      } ?? true
    case .number(let known): return value.integer.map { known.contains($0) } ?? true
    default: return true
    }
  }

  /// Refuses a known member of another type, and adds a warning for a value that Apple has not
  /// documented (ENU-2). A member that is null counts as absent.
  ///
  /// - Parameter path: the path of the object; empty, or with a dot at its end.
  static func check(
    _ object: JSONValue, at path: String, _ warnings: inout [Warning]
  ) throws(Refusal) {
    for value in object.children where !value.isNull {
      guard let index = table.index(of: value) else { continue }
      let member = table.members[index]
      try require(
        member.shape.accepts(value), .malformedAppStoreResponse, "API-30",
        at: path + Text(stringLiteral: member.name).string)
      if !isKnown(value, member.shape) {
        warnings.append(
          Warning("unknown-value", at: path + Text(stringLiteral: member.name).string))
      }
    }
  }
}
