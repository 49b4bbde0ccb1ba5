/// Apple's question about a refund, and what came of it: one row for each transaction
/// (docs/spec/refund-answers.md §1). The row names no account: that is the owner of the purchase.
struct RefundRow: Sendable {
  enum State: CaseIterable, Sendable {
    /// An answer is still to be decided or sent.
    case open
    case sent, silent, late
    /// Sending failed for good.
    case failed
    /// Apple decided before an answer was sent.
    case decided

    var name: StaticString {
      switch self {
      case .open: return "open"
      case .sent: return "sent"
      case .silent: return "silent"
      case .late: return "late"
      case .failed: return "failed"
      case .decided: return "decided"
      }
    }
  }

  /// `<environment>/<transaction id>`, which also leads to the purchase.
  let id: Text
  var environment: Text
  var bundleId: Text
  var transactionId: Text
  var originalTransactionId: Text
  var product: Text
  /// Apple's name of the product type; empty if only a decision of Apple's is known.
  var type: Text
  var ownership: Text
  var reason: Text? = nil
  var purchasedAtMs: Int64
  var isTrial = false
  var isAdvancedCommerce = false
  /// The UUID of the notification that asked; empty if Apple has not asked.
  var notificationId: Text = ""
  /// Milliseconds since 1970 UTC, as are all times here; 0 if Apple has not asked.
  var askedAtMs: Int64 = 0
  var state = State.decided
  var attemptId: Text = ""
  /// Until when nobody else gets the case; 0 if it was not handed out.
  var leaseMs: Int64 = 0
  var said: RefundSaid? = nil
  /// The status with which sending failed.
  var status: Text? = nil
  var sentAtMs: Int64? = nil
  var settledAtMs: Int64? = nil
  /// What Apple decided; `nil` if nothing is known of the newest question.
  var outcome: RefundOutcome? = nil
  /// The signed date of Apple's newest decision; 0 if there is none.
  var outcomeAtMs: Int64 = 0
  /// The refunded share in milliunits; `nil` if Apple has not told it.
  var outcomeShare: Int64? = nil

  /// How long Apple waits for an answer, in milliseconds (RFA-5).
  static let waitMs: Int64 = 43_200_000

  /// The end of Apple's wait; questions about one transaction differ by it.
  var dueAtMs: Int64 { Milliseconds.sum(askedAtMs, RefundRow.waitMs) }
}

extension RefundRow {
  /// Returns `self` if its key is the requested one (STO-4).
  func checked(_ id: Text) throws(LedgerSuspension) -> RefundRow {
    guard self.id == id else { throw .shape("id") }
    return self
  }

  /// The key of the subscription that the transaction may belong to.
  var subscriptionKey: DatabaseCall.Arguments {
    [
      ("environment", .text(environment)),
      ("original_transaction_id", .text(originalTransactionId)),
    ]
  }

  /// Whether the transaction may belong to a subscription or an unlock.
  var isLasting: Bool { type != Text(stringLiteral: ProductType.consumable.name) }
}

extension RefundRow {
  static let columns: [StaticString] = [
    "id", "environment", "bundle_id", "transaction_id", "original_transaction_id", "product",
    "type", "ownership", "reason", "purchased_at_ms", "is_trial", "is_advanced_commerce",
    "notification_id", "asked_at_ms", "state", "attempt_id", "lease_expires_at_ms",
    "rules", "delivery_status", "consumption_percentage", "refund_preference", "status",
    "sent_at_ms", "settled_at_ms", "outcome", "outcome_at_ms", "outcome_percentage",
  ]

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    environment = try row.text()
    bundleId = try row.text()
    transactionId = try row.text()
    originalTransactionId = try row.text()
    product = try row.text()
    type = try row.text()
    ownership = try row.text()
    reason = try row.textIfAny()
    purchasedAtMs = try row.integer()
    isTrial = try row.integer() != 0
    isAdvancedCommerce = try row.integer() != 0
    notificationId = try row.text()
    askedAtMs = try row.integer()
    let name = try row.text()
    guard let state = State.allCases.first(where: { name == Text(stringLiteral: $0.name) }) else {
      throw .shape("state")
    }
    self.state = state
    attemptId = try row.text()
    leaseMs = try row.integer()
    said = RefundSaid(
      rules: try row.textIfAny(), delivery: try row.textIfAny(),
      percentage: try row.integerIfAny(), preference: try row.textIfAny())
    status = try row.textIfAny()
    sentAtMs = try row.integerIfAny()
    settledAtMs = try row.integerIfAny()
    let decided = try row.text()
    outcome = RefundOutcome(decided)
    guard outcome != nil || decided.isEmpty else { throw .shape("outcome") }
    outcomeAtMs = try row.integer()
    outcomeShare = try row.integerIfAny()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("environment", .text(environment)), ("bundle_id", .text(bundleId)),
      ("transaction_id", .text(transactionId)),
      ("original_transaction_id", .text(originalTransactionId)), ("product", .text(product)),
      ("type", .text(type)), ("ownership", .text(ownership)), ("reason", DatabaseValue(reason)),
      ("purchased_at_ms", .integer(purchasedAtMs)), ("is_trial", .integer(isTrial ? 1 : 0)),
      ("is_advanced_commerce", .integer(isAdvancedCommerce ? 1 : 0)),
      ("notification_id", .text(notificationId)), ("asked_at_ms", .integer(askedAtMs)),
      ("state", .text(Text(stringLiteral: state.name))),
      ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("rules", DatabaseValue(said?.rules)), ("delivery_status", DatabaseValue(said?.delivery)),
      ("consumption_percentage", DatabaseValue(said?.percentage)),
      ("refund_preference", DatabaseValue(said?.preference)), ("status", DatabaseValue(status)),
      ("sent_at_ms", DatabaseValue(sentAtMs)), ("settled_at_ms", DatabaseValue(settledAtMs)),
      ("outcome", .text(outcome.map { Text(stringLiteral: $0.name) } ?? "")),
      ("outcome_at_ms", .integer(outcomeAtMs)),
      ("outcome_percentage", DatabaseValue(outcomeShare)),
    ]
  }
}
