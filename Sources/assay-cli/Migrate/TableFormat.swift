import CSystem

/// Rows of a table: CSV with a header line (RFC 4180), by columns that the shop names or that a
/// service exports (MIG-14).
struct TableFormat: Sendable {
  /// One column of the input that a member of a row is read from.
  private struct Column {
    let member: Member
    /// Its index in each file; `nil` where the header lacks it.
    let places: [Int?]
  }

  /// What a column fills: a member of a row, or what only an export has.
  enum Member: Hashable {
    case row(String)
    case store
    /// An account that is used if the first one is anonymous.
    case otherAccount
    case isSandbox
    /// A time at which the purchase was refunded; empty if it was not.
    case refundedAt
    case eventType
  }

  /// A named column, and whether every file must have it.
  struct Name {
    let member: Member
    let column: String
    let isNeeded: Bool

    init(_ member: Member, _ column: String, isNeeded: Bool = false) {
      self.member = member
      self.column = column
      self.isNeeded = isNeeded
    }
  }

  private let columns: [Column]
  private let separator: UInt8

  /// The columns of the scheduled export of RevenueCat, versions 3 to 7.
  static let revenueCat = [
    Name(.row("account"), "rc_original_app_user_id", isNeeded: true),
    Name(.otherAccount, "rc_last_seen_app_user_id_alias"),
    Name(.row("transactionId"), "store_transaction_id", isNeeded: true),
    Name(.row("originalTransactionId"), "original_store_transaction_id", isNeeded: true),
    Name(.isSandbox, "is_sandbox", isNeeded: true), Name(.store, "store"),
    Name(.refundedAt, "refunded_at"), Name(.row("expiresAtMs"), "effective_end_time"),
    Name(.row("expiresAtMs"), "end_time"),
  ]

  /// The columns of Adapty's events in cloud storage.
  static let adapty = [
    Name(.row("account"), "customer_user_id"),
    Name(.row("transactionId"), "transaction_id"),
    Name(.row("originalTransactionId"), "original_transaction_id", isNeeded: true),
    Name(.row("environment"), "environment", isNeeded: true), Name(.store, "store"),
    Name(.row("expiresAtMs"), "subscription_expires_at"), Name(.eventType, "event_type"),
  ]

  /// Reads the header line of each file.
  ///
  /// - Throws: `malformed.migrate.column` if a needed column is missing.
  init(_ names: [Name], separator: UInt8, paths: [String]) throws {
    self.separator = separator
    let headers = try paths.map { path in
      TableFormat.fields(try TableFormat.header(path)[...], separator).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    columns = try names.map { name in
      let places = headers.map { $0.firstIndex(of: name.column) }
      if name.isNeeded, let file = places.firstIndex(where: { $0 == nil }) {
        throw MigrateFault(
          "malformed.migrate.column",
          "\(paths[file]) has no column \(Terminal.safe(name.column))", exitCode: 2)
      }
      return Column(member: name.member, places: places)
    }
  }

  /// Reads `account=user_id,evidence=latest_receipt`.
  static func names(_ map: String) throws -> [Name] {
    try map.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, MigrateRow.members.contains(pair[0]), pair[0] != "evidences" else {
        throw MigrateFault(
          "malformed.migrate.column",
          "--columns \(Terminal.safe(String(part))): give MEMBER=COLUMN, where MEMBER is one of "
            + MigrateRow.members.filter { $0 != "evidences" }.joined(separator: ", "), exitCode: 2)
      }
      return Name(.row(pair[0]), pair[1], isNeeded: true)
    }
  }

  /// The longest header line.
  private static let headerCap = 64 << 10

  private static func header(_ path: String) throws -> [UInt8] {
    let file = try RequestFile(path)
    let bytes = try MigrateInput.bytes(
      file.descriptor, path, 0, min(file.byteCount ?? 0, headerCap))
    var line = bytes[RequestFile.byteOrderMark(bytes)...].prefix { $0 != 0x0a }
    if line.last == 0x0d { line.removeLast() }
    return Array(line)
  }

  /// Returns the fields of a record, without their quotation marks.
  static func fields(_ record: ArraySlice<UInt8>, _ separator: UInt8) -> [[UInt8]] {
    var fields: [[UInt8]] = [[]]
    var (isQuoted, place) = (false, record.startIndex)
    while place < record.endIndex {
      let byte = record[place]
      place += 1
      if isQuoted, byte == 0x22, place < record.endIndex, record[place] == 0x22 {
        fields[fields.count - 1].append(byte)
        place += 1
      } else if byte == 0x22 {
        isQuoted.toggle()
      } else if byte == separator, !isQuoted {
        fields.append([])
      } else {
        fields[fields.count - 1].append(byte)
      }
    }
    return fields
  }

  // MARK: a record

  /// Reads one record of a file.
  func row(_ record: ArraySlice<UInt8>, file: Int) throws(RowFault) -> ReadRow? {
    guard !record.isEmpty else { return nil }
    guard String(validating: record, as: UTF8.self) != nil else { throw .malformed("csv") }
    let fields = TableFormat.fields(record, separator)
    var read = ReadRow()
    var set: Set<Member> = []
    for column in columns {
      guard let place = column.places[file] else { continue }
      guard fields.indices.contains(place) else { throw .malformed("csv") }
      let text = String(decoding: fields[place], as: UTF8.self)
      // Of two columns for one member the first that is filled counts.
      guard !text.isEmpty, set.insert(column.member).inserted else { continue }
      try take(column.member, text, &read)
    }
    if read.skipped == nil { read.row = try read.row.checked() }
    return read
  }

  private func take(_ member: Member, _ text: String, _ read: inout ReadRow) throws(RowFault) {
    switch member {
    case .row("account") where text.hasPrefix(TableFormat.anonymous): break
    case .row(let name): _ = try read.row.set(name, try TableFormat.value(name, text))
    case .otherAccount:
      if read.row.account == nil, !text.hasPrefix(TableFormat.anonymous) {
        _ = try read.row.set("account", .text(text))
      }
    case .store: if !TableFormat.stores.contains(text) { read.skipped = text }
    case .isSandbox:
      let isSandbox = try TableFormat.boolean("is_sandbox", text)
      read.row.hearsay.environment = isSandbox ? "Sandbox" : "Production"
    case .refundedAt: read.row.hearsay.isRevoked = true
    case .eventType: if text.hasSuffix("_refunded") { read.row.hearsay.isRevoked = true }
    }
  }

  /// What the id of an anonymous customer of RevenueCat begins with.
  private static let anonymous = "$RCAnonymousID:"
  /// Apple's stores, as the services name them.
  private static let stores: Set<String> = ["app_store", "mac_app_store"]

  /// Returns the value of a member. Times are milliseconds or seconds, which cannot be confused, or
  /// ISO 8601.
  private static func value(_ name: String, _ text: String) throws(RowFault) -> MigrateRow.Value {
    switch name {
    case "receivedAtMs", "expiresAtMs": return .integer(try time(name, text))
    case "revoked": return .boolean(try boolean(name, text))
    case "granted":
      if let flag = booleans[text.lowercased()] { return .boolean(flag) }
      return .integer(try time(name, text))
    default: return .text(text)
    }
  }

  private static func time(_ name: String, _ text: String) throws(RowFault) -> Int64 {
    guard let time = RequestTime.text(Array(text.utf8)) else { throw .malformed(name) }
    return time
  }

  private static func boolean(_ name: String, _ text: String) throws(RowFault) -> Bool {
    guard let flag = booleans[text.lowercased()] else { throw .malformed(name) }
    return flag
  }

  private static let booleans = [
    "true": true, "false": false, "t": true, "f": false, "1": true, "0": false,
  ]
}
