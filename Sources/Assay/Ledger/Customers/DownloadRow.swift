/// A download by whose transaction Apple can be asked about the customer (CUS-3).
struct DownloadRow: Sendable {
  /// The key of the download.
  let id: Text
  let environment: Text
  let bundleId: Text
  /// The first transaction that an account has shown from there. It is not replaced, because Apple
  /// gives revisions to one transaction id.
  let transactionId: Text
  /// How far Apple's histories of transactions and of refunds were read; empty: not at all.
  var revision: Text = ""
  var refundRevision: Text = ""
  /// The time at which a run had read a history to its end, in milliseconds since 1970 UTC; 0 if
  /// none has.
  var askedAtMs: Int64 = 0

  static let columns: [StaticString] = [
    "id", "environment", "bundle_id", "transaction_id", "revision", "refund_revision",
    "asked_at_ms",
  ]

  /// Creates the row of a purchase; `nil` if Apple cannot be asked by it.
  init?(_ purchase: LedgerPurchase, _ key: CustomerKey) {
    let (facts, id) = (purchase.facts, purchase.facts.transactionId)
    guard let bundleId = facts.bundleId, purchase.transactionKey != nil, id.isDecimal,
      id.count <= 20
    else { return nil }
    self.id = key.text
    environment = Text(stringLiteral: facts.environment.name)
    self.bundleId = bundleId
    transactionId = id
  }

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    environment = try row.text()
    bundleId = try row.text()
    transactionId = try row.text()
    // DynamoDB has no attribute for an empty one.
    revision = try row.textIfAny() ?? ""
    refundRevision = try row.textIfAny() ?? ""
    askedAtMs = try row.integer()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("environment", .text(environment)), ("bundle_id", .text(bundleId)),
      ("transaction_id", .text(transactionId)), ("revision", .text(revision)),
      ("refund_revision", .text(refundRevision)), ("asked_at_ms", .integer(askedAtMs)),
    ]
  }

  /// The revision from which a part of a run asks.
  subscript(_ part: RunPart) -> Text {
    get { part == .refunds ? refundRevision : revision }
    set {
      if part == .refunds { refundRevision = newValue } else { revision = newValue }
    }
  }
}
