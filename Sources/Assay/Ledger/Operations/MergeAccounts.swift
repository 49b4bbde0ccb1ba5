/// The operation `merge-accounts`: merges an anonymous account into the signed-in one (STO-90 …
/// 92).
struct MergeAccounts: DurableOperation {
  let from: Text
  let to: Text
  let attemptId: Text
  let reason: Text?
  /// Whether an operator asks, who may see other accounts.
  private let isOperator: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    from = try parameters.account("from")
    to = try parameters.account("to")
    try require(from != to, .misuseLedgerAccount, "STO-90", at: "to")
    attemptId = try parameters.attemptId()
    reason = try parameters.reason()
    isOperator = try parameters["operatorView"]?.boolean() ?? false
  }

  var jitterSeed: Text { attemptId }

  /// The numbers of rows that were moved, or are to be moved.
  struct Moved {
    var subscriptions: Int64 = 0
    var purchases: Int64 = 0
    var keys: Int64 = 0
    var meters: Int64 = 0
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    try database.merge(self)
  }

  /// Returns the refusal of a merge (STO-91); `nil` if the merge is allowed.
  ///
  /// - Parameter targets: The accounts that `from` and `to` were merged into before; empty if none.
  func evaluate(_ targets: (from: Text, to: Text)) -> OperationResult? {
    if targets.to.isEmpty && (targets.from.isEmpty || targets.from == to) { return nil }
    let mergedInto = targets.from.isEmpty || targets.from == to ? targets.to : targets.from
    let isOperator = isOperator
    return OperationResult(Refusal(.rejectedAccountMerged, "STO-91", at: "to")) { writer in
      writer.member("outcome", "other-account")
      if isOperator { writer.member("mergedInto", mergedInto) }
    }
  }

  func done(_ targets: (from: Text, to: Text), _ moved: Moved, more: Bool) -> OperationResult {
    let isRepeated = targets.from == to
    return OperationResult { writer in
      writer.member("outcome", isRepeated ? "already" : "merged")
      writer.name("moved")
      moved.write(&writer)
      writer.member("hasMore", boolean: more)
      writer.member("changed", boolean: moved.isSomething || !isRepeated)
    }
  }
}

extension MergeAccounts.Moved {
  var isSomething: Bool { subscriptions > 0 || purchases > 0 || keys > 0 || meters > 0 }

  mutating func add(_ other: MergeAccounts.Moved) {
    subscriptions &+= other.subscriptions
    purchases &+= other.purchases
    keys &+= other.keys
    meters &+= other.meters
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("subscriptions", integer: subscriptions)
    writer.member("purchases", integer: purchases)
    writer.member("keys", integer: keys)
    writer.member("meters", integer: meters)
    writer.endObject()
  }

  /// Reads a row of four counts: subscriptions, purchases, device keys, meters.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    subscriptions = try row.integer()
    purchases = try row.integer()
    keys = try row.integer()
    meters = try row.integer()
    try row.end()
  }
}
