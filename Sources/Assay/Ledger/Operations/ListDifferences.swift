/// The operation `list-differences`: the differences between the ledger and Apple that runs of
/// `reconcile` have found (RCN-42).
struct ListDifferences: DurableOperation {
  /// The environment of the differences; empty for all.
  private let environment: Text
  private let kind: DifferenceKind?
  private let areOpen: Bool
  private let after: DifferencePlace

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    environment = try parameters.environmentIfAny()
    let kinds = DifferenceKind.allCases
    let place = try parameters["kind"]?.choice(kinds.map { $0.name })
    kind = place.map { kinds[$0] }
    areOpen = try parameters["state"]?.choice(["open", "closed"]) != 1
    guard let node = parameters["after"] else {
      after = .start
      return
    }
    guard let given = DifferencePlace(try node.text(66...81)) else { throw node.refusal(.range) }
    after = given
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (rows, next) = try database.differences(
      areOpen: areOpen, in: environment, kind, after: after)
    return OperationResult { writer in
      writer.name("differences")
      writer.beginArray()
      for row in rows { row.write(&writer) }
      writer.endArray()
      writer.member("hasMore", boolean: next != nil)
      writer.member("after", next?.text)
    }
  }
}
