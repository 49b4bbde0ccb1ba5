/// A text of evidence in the input, to be verified again when it is written to the ledger: only
/// documents that a verification made enter it.
struct EvidencePlace: Hashable {
  let row: RowPlace
  /// Its index among the texts of the row.
  let index: Int

  func put(in record: inout RecordBytes) {
    row.put(in: &record)
    record.put(Int64(index))
  }

  init(row: RowPlace, index: Int) {
    self.row = row
    self.index = index
  }

  init(_ cursor: inout RecordCursor) {
    row = RowPlace(&cursor)
    index = Int(cursor.number())
  }
}
