/// Access to the results of a step, by the index of the call.
extension Array where Element == DatabaseResult {
  /// Returns the rows of a call that returns rows.
  func rows(_ place: Int) throws(LedgerSuspension) -> [DatabaseRow] {
    guard place < count, case .rows(let rows) = self[place] else {
      throw .shape("results[" + String(place) + "]")
    }
    return rows
  }

  /// Returns the only row of a call; `nil` if there is none.
  func rowIfAny(_ place: Int) throws(LedgerSuspension) -> DatabaseRow? {
    let rows = try rows(place)
    guard rows.count <= 1 else { throw .shape("results[" + String(place) + "].rows") }
    return rows.first
  }

  /// Returns the row that an earlier call of the same step has ensured to exist.
  func row(_ place: Int) throws(LedgerSuspension) -> DatabaseRow {
    guard let row = try rowIfAny(place) else {
      throw .refused(
        Refusal(.unavailableDatabaseRowMissing, "STO-4", at: "results[" + String(place) + "].rows"))
    }
    return row
  }
}
