/// Device keys.
extension SQLDatabase {
  func insert(_ row: KeyRow) throws(LedgerSuspension) -> (row: KeyRow, isMade: Bool) {
    let read = keyArguments(row.id)
    let results = try run { [(.keyRead, read), (.keyInsert, row.arguments), (.keyRead, read)] }
    let isMade = try results.rowIfAny(0) == nil
    return (try KeyRow(try results.row(2)).checked(row.id), isMade)
  }

  func keyRow(_ id: Text) throws(LedgerSuspension) -> KeyRow? {
    try keyRow(try run { [(.keyRead, keyArguments(id))] }, 0, id)
  }

  func advance(
    _ id: Text, owner: Text, counter: Int64
  ) throws(LedgerSuspension) -> (isMade: Bool, row: KeyRow?) {
    let stored = try number(
      .keyAdvance, mariaDB: [.keyAdvance, .keyChanged],
      keyArguments(id) + [
        ("owner", .text(owner)), ("counter", .integer(counter)),
        ("now_ms", .integer(context.nowMs)),
      ])
    guard let stored else { return (false, try keyRow(id)) }
    guard isMariaDB || stored == counter else { throw .shape("counter") }
    return (true, nil)
  }

  func keep(_ receipt: KeyRow.Receipt, of id: Text) throws(LedgerSuspension) -> KeyRow? {
    let arguments = keyArguments(id) + receipt.arguments
    return try keyRow(try run { [(.keyReceipt, arguments), (.keyRead, keyArguments(id))] }, 1, id)
  }

  func retire(_ id: Text, owner: Text) throws(LedgerSuspension) -> (row: KeyRow?, isMade: Bool) {
    let read = keyArguments(id)
    let arguments: Arguments =
      read + [("owner", .text(owner)), ("now_ms", .integer(context.nowMs))]
    let results = try run { [(.keyRead, read), (.keyRetire, arguments), (.keyRead, read)] }
    return (try keyRow(results, 2, id), try keyRow(results, 0, id)?.state == .active)
  }

  private func keyRow(
    _ results: [DatabaseResult], _ place: Int, _ id: Text
  ) throws(LedgerSuspension) -> KeyRow? {
    guard let row = try results.rowIfAny(place) else { return nil }
    return try KeyRow(row).checked(id)
  }
}

private func keyArguments(_ id: Text) -> DatabaseCall.Arguments { [("key_id", .text(id))] }
