/// A difference between the ledger and Apple: at most one for each subject of an environment, so
/// that whoever finds it again finds the same row (docs/spec/reconcile.md RCN-40).
struct DifferenceRow: Sendable {
  /// SHA-256 of environment and subject, lower-case hex.
  let id: Text
  var environment: Text
  /// What differs: a purchase key, or another key behind a word and `:`.
  var subject: Text
  var kind: DifferenceKind
  var isOpen = true
  var transactionId: Text = ""
  var originalTransactionId: Text = ""
  var product: Text = ""
  var quantity: Int64 = 0
  /// The price in thousandths of the currency unit; `nil` if the evidence has none.
  var price: Int64? = nil
  var currency: Text? = nil
  /// The purchase date in milliseconds since 1970 UTC; 0 if there is none.
  var purchasedAtMs: Int64 = 0
  /// The time of the newest evidence, in milliseconds since 1970 UTC.
  var asOfMs: Int64
  /// What was refused and where; `nil` for most kinds.
  var detail: Text? = nil
  var foundAtMs: Int64
  var seenAtMs: Int64
  /// The run that has seen it last.
  var run: Text
  var closedAtMs: Int64? = nil
  /// `run` or `person`; `nil` while the difference is open.
  var closedBy: Text? = nil
  var note: Text? = nil

  /// - Parameter nowMs: The time of the finding, in milliseconds since 1970 UTC.
  init(
    _ kind: DifferenceKind, _ subject: Text, in environment: Text, asOfMs: Int64, run: Text,
    nowMs: Int64
  ) {
    id = DifferenceRow.id(environment, subject)
    self.environment = environment
    self.subject = subject
    self.kind = kind
    self.asOfMs = asOfMs
    foundAtMs = nowMs
    seenAtMs = nowMs
    self.run = run
  }

  static func id(_ environment: Text, _ subject: Text) -> Text {
    Text(Hex.encode(Digest.sha256.of(environment.utf8 + [0x0a] + subject.utf8)))
  }

  /// Whether seeing this difference changes the stored row: one that a person has closed opens
  /// again only for newer evidence or another kind. The statement has the same condition.
  func isNews(for stored: DifferenceRow) -> Bool {
    guard stored.asOfMs <= asOfMs else { return false }
    return stored.isOpen || stored.closedBy == "run" || stored.kind != kind
      || stored.asOfMs < asOfMs
  }
}

extension DifferenceRow {
  /// The subject of a subscription, which no purchase key equals.
  static func subscription(_ originalTransactionId: Text) -> Text {
    Text(subscriptionPrefix.utf8 + originalTransactionId.utf8)
  }

  /// The subject of a customer, by the key of the download.
  static func download(_ id: Text) -> Text { Text("download:".utf8 + id.utf8) }

  /// The original transaction id of a subject; `nil` if the subject is no subscription.
  var subscriptionId: Text? {
    let prefix = DifferenceRow.subscriptionPrefix.utf8
    guard subject.utf8.starts(with: prefix) else { return nil }
    return Text(Array(subject.utf8.dropFirst(prefix.count)))
  }

  private static let subscriptionPrefix: Text = "subscription:"

  /// Whether the subject is a purchase key.
  var isOfPurchase: Bool {
    switch kind {
    case .paidNotGranted, .claimLeftBehind, .refundNotTakenBack, .refundShareUnknown,
      .reversalNotGivenBack, .unknownProduct:
      return true
    case .subscriptionUnowned, .unknownAtApple, .notVerified, .historyGap: return false
    }
  }
}

extension DifferenceRow {
  static let columns: [StaticString] = [
    "id", "environment", "subject", "kind", "state", "transaction_id", "original_transaction_id",
    "product", "quantity", "price", "currency", "purchased_at_ms", "as_of_ms", "detail",
    "found_at_ms", "seen_at_ms", "run", "closed_at_ms", "closed_by", "note",
  ]

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    environment = try row.text()
    subject = try row.text()
    guard let kind = DifferenceKind(try row.text()) else { throw .shape("kind") }
    self.kind = kind
    switch try row.text() {
    case "open": isOpen = true
    case "closed": isOpen = false
    default: throw .shape("state")
    }
    transactionId = try row.text()
    originalTransactionId = try row.text()
    product = try row.text()
    quantity = try row.integer()
    price = try row.integerIfAny()
    currency = try row.textIfAny()
    purchasedAtMs = try row.integer()
    asOfMs = try row.integer()
    detail = try row.textIfAny()
    foundAtMs = try row.integer()
    seenAtMs = try row.integer()
    run = try row.text()
    closedAtMs = try row.integerIfAny()
    closedBy = try row.textIfAny()
    note = try row.textIfAny()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("environment", .text(environment)), ("subject", .text(subject)),
      ("kind", .text(Text(stringLiteral: kind.name))),
      ("state", .text(isOpen ? "open" : "closed")), ("transaction_id", .text(transactionId)),
      ("original_transaction_id", .text(originalTransactionId)), ("product", .text(product)),
      ("quantity", .integer(quantity)), ("price", DatabaseValue(price)),
      ("currency", DatabaseValue(currency)), ("purchased_at_ms", .integer(purchasedAtMs)),
      ("as_of_ms", .integer(asOfMs)), ("detail", DatabaseValue(detail)),
      ("found_at_ms", .integer(foundAtMs)), ("seen_at_ms", .integer(seenAtMs)),
      ("run", .text(run)), ("closed_at_ms", DatabaseValue(closedAtMs)),
      ("closed_by", DatabaseValue(closedBy)), ("note", DatabaseValue(note)),
    ]
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", id)
    writer.member("environment", environment)
    writer.member("kind", kind.name)
    writer.member("state", isOpen ? "open" : "closed")
    writer.member("purchaseKey", isOfPurchase ? subject : nil)
    writer.member("transactionId", transactionId.isEmpty ? nil : transactionId)
    writer.member(
      "originalTransactionId", originalTransactionId.isEmpty ? nil : originalTransactionId)
    writer.member("productId", product.isEmpty ? nil : product)
    writer.member("quantity", integer: quantity == 0 ? nil : quantity)
    writer.member("price", integer: price)
    writer.member("currency", currency)
    writer.member("purchasedAtMs", integer: purchasedAtMs == 0 ? nil : purchasedAtMs)
    writer.member("asOfMs", integer: asOfMs)
    writer.member("detail", detail)
    writer.member("foundAtMs", integer: foundAtMs)
    writer.member("seenAtMs", integer: seenAtMs)
    writer.member("closedAtMs", integer: closedAtMs)
    writer.member("closedBy", closedBy)
    writer.member("note", note)
    writer.name("settledBy")
    if let call = kind.settledBy { writer.string(call) } else { writer.null() }
    writer.endObject()
  }
}
