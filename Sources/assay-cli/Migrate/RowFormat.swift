@_spi(AssaySwift) import Assay

/// A row as its format gives it, and what was beside it.
struct ReadRow {
  var row = MigrateRow()
  /// Names of members that no row has.
  var unknown: [String] = []
}

/// How the records of the input become rows.
enum RowFormat {
  case ndjson

  /// Whether a record may contain line ends, between quotation marks.
  var isQuoted: Bool { false }

  /// Reads one record.
  ///
  /// - Returns: the row; `nil` for a record that counts as empty.
  func row(_ record: ArraySlice<UInt8>) throws(RowFault) -> ReadRow? {
    switch self {
    case .ndjson: return try RowFormat.json(record)
    }
  }

  private static func json(_ record: ArraySlice<UInt8>) throws(RowFault) -> ReadRow? {
    guard record.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
    guard let object = DocumentValue(json: Array(record)) else { throw .malformed("json") }
    var read = ReadRow()
    for (name, value) in object.children {
      if try !read.row.set(name, MigrateRow.Value(value)) { read.unknown.append(name) }
    }
    read.row = try read.row.checked()
    return read
  }
}

extension MigrateRow.Value {
  fileprivate init(_ value: DocumentValue) {
    if let text = value.text {
      self = .text(text)
    } else if let flag = value.boolean {
      self = .boolean(flag)
    } else if let number = value.signedInteger {
      self = .integer(number)
    } else if value.isArray {
      self = .list(value.children.map { MigrateRow.Value($0.value) })
    } else {
      self = value.json == "null" ? .null : .json(Array(value.json.utf8))
    }
  }
}
