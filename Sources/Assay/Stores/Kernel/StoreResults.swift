/// Reading what a step brought, call by call.
extension Array where Element == StoreResult {
  /// The rows of a statement that gives rows.
  func rows(_ place: Int) throws(StoreStop) -> [StoreRow] {
    guard place < count, case .rows(let rows) = self[place] else {
      throw .shape("results[" + String(place) + "]")
    }
    return rows
  }

  /// The one row, if there is one.
  func rowIfAny(_ place: Int) throws(StoreStop) -> StoreRow? {
    let rows = try rows(place)
    guard rows.count <= 1 else { throw .shape("results[" + String(place) + "].rows") }
    return rows.first
  }

  /// The row of something that this step itself put there.
  func row(_ place: Int) throws(StoreStop) -> StoreRow {
    guard let row = try rowIfAny(place) else {
      throw .refused(
        Refusal(.unavailableStoreRowMissing, "STO-4", at: "results[" + String(place) + "].rows"))
    }
    return row
  }
}
