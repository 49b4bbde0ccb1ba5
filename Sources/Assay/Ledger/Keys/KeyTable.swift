/// Device keys, on each engine that may store them (STO-13).
extension LedgerSession {
  private var isDynamo: Bool { context.engine == .dynamodb }

  /// Inserts `row` if no row has its id.
  ///
  /// - Returns: The stored row, and whether it was inserted.
  mutating func insert(_ row: KeyRow) throws(LedgerSuspension) -> (row: KeyRow, isMade: Bool) {
    if isDynamo {
      let (stands, isMade) = try dynamoInsert(row)
      return (try stands.checked(row.id), isMade)
    }
    let read = keyArguments(row.id)
    let results = try sql { [(.keyRead, read), (.keyInsert, row.arguments), (.keyRead, read)] }
    let isMade = try results.rowIfAny(0) == nil
    return (try KeyRow(try results.row(2)).checked(row.id), isMade)
  }

  mutating func keyRow(_ id: Text) throws(LedgerSuspension) -> KeyRow? {
    if isDynamo { return try dynamoKeyRow(id)?.checked(id) }
    return try keyRow(try sql { [(.keyRead, keyArguments(id))] }, 0, id)
  }

  /// Raises the counter of an active key of `owner`. The change itself reports whether it was
  /// made: the row looks the same after the same change by another process (STO-63).
  ///
  /// - Returns: Whether the counter was raised. If not, the stored row that prevented it; `nil`
  ///   if there is none.
  mutating func advance(
    _ id: Text, owner: Text, counter: Int64
  ) throws(LedgerSuspension) -> (isMade: Bool, row: KeyRow?) {
    if isDynamo { return try dynamoAdvance(id, owner: owner, counter: counter) }
    let arguments: Arguments =
      keyArguments(id) + [
        ("owner", .text(owner)), ("counter", .integer(counter)),
        ("now_ms", .integer(context.nowMs)),
      ]
    let isMade: Bool
    if context.engine == .mariadb {
      isMade =
        try sql(isOnce: true, needsOneConnection: true) {
          [(.keyAdvance, arguments), (.keyChanged, [])]
        }.numberIfChanged(1) != nil
    } else {
      let stored = try sql(isOnce: true) { [(.keyAdvance, arguments)] }.number(0)
      guard stored == nil || stored == counter else { throw .shape("counter") }
      isMade = stored != nil
    }
    return isMade ? (true, nil) : (false, try keyRow(id))
  }

  /// Replaces the stored receipt by a later one. Returns the row as stored afterwards.
  mutating func keep(_ receipt: KeyRow.Receipt, of id: Text) throws(LedgerSuspension) -> KeyRow? {
    if isDynamo { return try dynamoKeep(receipt, of: id)?.checked(id) }
    let arguments = keyArguments(id) + receipt.arguments
    return try keyRow(try sql { [(.keyReceipt, arguments), (.keyRead, keyArguments(id))] }, 1, id)
  }

  /// Retires an active key of `owner`.
  ///
  /// - Returns: The row as stored afterwards, and whether the key was active before.
  mutating func retire(
    _ id: Text, owner: Text
  ) throws(LedgerSuspension) -> (row: KeyRow?, isMade: Bool) {
    if isDynamo {
      let (row, isMade) = try dynamoRetire(id, owner: owner)
      return (try row?.checked(id), isMade)
    }
    let read = keyArguments(id)
    let arguments: Arguments =
      read + [("owner", .text(owner)), ("now_ms", .integer(context.nowMs))]
    let results = try sql { [(.keyRead, read), (.keyRetire, arguments), (.keyRead, read)] }
    return (try keyRow(results, 2, id), try keyRow(results, 0, id)?.state == .active)
  }

  private func keyRow(
    _ results: [DatabaseResult], _ place: Int, _ id: Text
  ) throws(LedgerSuspension) -> KeyRow? {
    guard let row = try results.rowIfAny(place) else { return nil }
    return try KeyRow(row).checked(id)
  }
}

extension KeyRow {
  /// Returns `self` if its id is the requested one; an engine that returns another row is
  /// refused.
  func checked(_ id: Text) throws(LedgerSuspension) -> KeyRow {
    guard self.id == id else { throw .shape("key_id") }
    return self
  }
}

private func keyArguments(_ id: Text) -> LedgerSession.Arguments { [("key_id", .text(id))] }
