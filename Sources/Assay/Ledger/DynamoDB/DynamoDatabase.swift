/// The ledger in one table of DynamoDB (docs/spec/ledger-statements.md §3). A change whose
/// condition failed returns the row that it met, and that row decides (STM-11): one with our own
/// attempt id is our own change, made before (STO-72).
final class DynamoDatabase: GuardDatabase, DurableDatabase {
  let session: LedgerSession

  init(_ session: LedgerSession) { self.session = session }

  var context: LedgerContext { session.context }

  var table: Text { context.policy.table ?? "" }

  /// Executes calls in one step.
  ///
  /// - Parameter calls: Returns the calls for the name of the table.
  func run(
    isOnce: Bool = false, _ calls: (Text) -> [DatabaseCall]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    try session.run { DatabaseStep(calls: calls(table), isOnce: isOnce) }
  }

  /// Reads one row.
  func read(_ key: DynamoKey) throws(LedgerSuspension) -> DynamoItem? {
    try run { [DynamoRequest.get(key).call($0)] }.item(0)
  }

  /// Changes one row. Returns whether the change was made, and the row as stored afterwards.
  func change(
    isOnce: Bool = false, _ request: DynamoRequest
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    try run(isOnce: isOnce) { [request.call($0)] }.change(0)
  }

  /// Inserts a row. Returns the stored row that has the key already, `nil` if there was none; a
  /// failure without that row is refused at `place`.
  func insert(
    _ key: DynamoKey, _ item: DynamoRequest.Values, _ place: String = "results[0].error.item"
  ) throws(LedgerSuspension) -> DynamoItem? {
    let (isMade, row) = try change(.insert(key, item))
    if isMade { return nil }
    guard let row else { throw .shape(place) }
    return row
  }

  /// Updates a row. Returns whether the change was made, and the row as stored afterwards, `nil` if
  /// there is none; a change without its row is refused at `place`.
  func update(
    isOnce: Bool = false, _ request: DynamoRequest,
    _ place: String = "results[0].output.Attributes"
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem)? {
    let (isMade, row) = try change(isOnce: isOnce, request)
    if let row { return (isMade, row) }
    if isMade { throw .shape(place) }
    return nil
  }

  /// Makes each of the changes by itself, all in one step. Returns how many were made.
  @discardableResult
  func changeEach(_ changes: [DynamoRequest]) throws(LedgerSuspension) -> Int64 {
    guard !changes.isEmpty else { return 0 }
    let results = try run { table in changes.map { $0.call(table) } }
    var made: Int64 = 0
    for place in results.indices where try results.change(place).isMade { made &+= 1 }
    return made
  }

  /// Changes several rows, all or none. Returns `nil` if all were changed, otherwise the result of
  /// each.
  func transact(
    _ changes: [DynamoRequest]
  ) throws(LedgerSuspension) -> [(isRefused: Bool, row: DynamoItem?)]? {
    try run { [DynamoTransaction(changes).call($0)] }.cancellation(0)
  }

  /// Makes each of the changes as a transaction of its own, all in one step.
  ///
  /// - Returns: For each change the reasons of its cancellation; `nil` if it was made.
  func transactEach(
    _ changes: [[DynamoRequest]]
  ) throws(LedgerSuspension) -> [[(isRefused: Bool, row: DynamoItem?)]?] {
    guard !changes.isEmpty else { return [] }
    let results = try run { table in changes.map { DynamoTransaction($0).call(table) } }
    var outcomes: [[(isRefused: Bool, row: DynamoItem?)]?] = []
    for place in results.indices { outcomes.append(try results.cancellation(place)) }
    return outcomes
  }
}
