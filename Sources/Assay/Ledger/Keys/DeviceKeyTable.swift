/// Device keys.
protocol DeviceKeyTable: AnyObject {
  /// Inserts `row` if no row has its id.
  ///
  /// - Returns: The stored row, and whether it was inserted.
  func insert(_ row: KeyRow) throws(LedgerSuspension) -> (row: KeyRow, isMade: Bool)

  func keyRow(_ id: Text) throws(LedgerSuspension) -> KeyRow?

  /// Raises the counter of an active key of `owner`. The change itself reports whether it was
  /// made: the row looks the same after the same change by another process (STO-63).
  ///
  /// - Returns: Whether the counter was raised. If not, the stored row that prevented it; `nil`
  ///   if there is none.
  func advance(
    _ id: Text, owner: Text, counter: Int64
  ) throws(LedgerSuspension) -> (isMade: Bool, row: KeyRow?)

  /// Replaces the stored receipt by a later one. Returns the row as stored afterwards.
  func keep(_ receipt: KeyRow.Receipt, of id: Text) throws(LedgerSuspension) -> KeyRow?

  /// Retires an active key of `owner`.
  ///
  /// - Returns: The row as stored afterwards, and whether the key was active before.
  func retire(_ id: Text, owner: Text) throws(LedgerSuspension) -> (row: KeyRow?, isMade: Bool)
}
