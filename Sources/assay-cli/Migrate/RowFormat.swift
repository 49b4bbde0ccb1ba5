@_spi(AssaySwift) import Assay

/// How the records of the input become rows.
enum RowFormat: Sendable {
  /// One JSON object a line (MIG-10).
  case ndjson
  /// A table with a header line (MIG-14).
  case table(TableFormat)

  /// The names that `--format` has.
  static let names = ["ndjson", "columns", "revenuecat", "adapty", "qonversion"]

  /// Returns the format of these files.
  ///
  /// - Throws: `unsupported.migrate.format`, `malformed.migrate.column`.
  static func named(
    _ name: String, columns: String?, separator: UInt8, paths: [String]
  ) throws -> RowFormat {
    switch name {
    case "ndjson": return .ndjson
    case "revenuecat":
      return .table(try TableFormat(TableFormat.revenueCat, separator: separator, paths: paths))
    case "adapty":
      return .table(try TableFormat(TableFormat.adapty, separator: separator, paths: paths))
    case "columns":
      let names = try TableFormat.names(columns ?? "")
      return .table(try TableFormat(names, separator: separator, paths: paths))
    default:
      throw MigrateFault(
        "unsupported.migrate.format",
        "the columns of \(name) are not published: use --format columns and --columns",
        exitCode: 2)
    }
  }

  /// Whether the first record of a file is no row, and records may contain line ends between
  /// quotation marks.
  var isTable: Bool {
    if case .table = self { return true }
    return false
  }

  /// Reads one record.
  ///
  /// - Returns: the row; `nil` for a record that counts as empty.
  func row(_ record: ArraySlice<UInt8>, file: Int) throws(RowFault) -> ReadRow? {
    switch self {
    case .ndjson: return try RowFormat.json(record)
    case .table(let table): return try table.row(record, file: file)
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
