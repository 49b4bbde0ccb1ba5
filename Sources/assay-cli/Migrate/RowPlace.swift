/// Where a row is in the input.
struct RowPlace: Hashable, Comparable {
  /// The index of the file.
  let file: Int
  let offset: Int
  let byteCount: Int
  /// The line in which the record begins, from 1.
  let line: Int

  static func < (left: RowPlace, right: RowPlace) -> Bool {
    (left.file, left.offset) < (right.file, right.offset)
  }

  func put(in record: inout RecordBytes) {
    for number in [file, line, offset, byteCount] { record.put(Int64(number)) }
  }

  init(file: Int, offset: Int, byteCount: Int, line: Int) {
    self.file = file
    self.offset = offset
    self.byteCount = byteCount
    self.line = line
  }

  init(_ cursor: inout RecordCursor) {
    file = Int(cursor.number())
    line = Int(cursor.number())
    offset = Int(cursor.number())
    byteCount = Int(cursor.number())
  }
}
