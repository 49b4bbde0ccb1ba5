/// One row of the input: what a shop kept about a purchase (MIG-10).
struct MigrateRow {
  /// Whether the shop has delivered what the evidence contains (MIG-12).
  enum Granted {
    case no
    case yes
    /// Purchases up to this time, in milliseconds since 1970 UTC.
    case until(Int64)
  }

  /// What somebody wrote about a purchase, without a signature: a reason to ask Apple (MIG-22).
  struct Hearsay {
    var environment = "Production"
    var transactionId: String?
    var originalTransactionId: String?
    var expiresAtMs: Int64?
    var isRevoked = false
  }

  /// The shop's account; `nil` if it is not known.
  var account: String?
  var evidences: [[UInt8]] = []
  var granted: Granted?
  /// When the shop got the evidence, in milliseconds since 1970 UTC.
  var receivedAtMs: Int64?
  /// The `appAccountToken` that the shop gave the account, in lower case.
  var accountToken: String?
  var hearsay = Hearsay()

  /// Whether purchases bought at this time are delivered; `nil` if the row does not say.
  func isGranted(boughtAtMs: Int64) -> Bool? {
    switch granted {
    case nil: nil
    case .no: false
    case .yes: receivedAtMs.map { boughtAtMs <= $0 } ?? true
    case .until(let time): boughtAtMs <= time
    }
  }
}

extension MigrateRow {
  /// A value of a row, whichever format it came in.
  enum Value {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case null
    /// JSON that is none of these, as it was written.
    case json([UInt8])
    case list([Value])
  }

  static let members = [
    "account", "evidence", "evidences", "granted", "receivedAtMs", "accountToken",
    "transactionId", "originalTransactionId", "environment", "expiresAtMs", "revoked",
  ]
  private static let folded = Set(members.map(fold))
  private static let environments: Set<String> = ["Production", "Sandbox", "Xcode", "LocalTesting"]

  /// Sets a member. Returns false for a name that no row has.
  ///
  /// - Throws: `malformed.migrate.row` for a value of another type, and for a name that differs from
  ///   a member's only in capitals and underscores: a typing error must not lose accounts.
  mutating func set(_ name: String, _ value: Value) throws(RowFault) -> Bool {
    guard MigrateRow.members.contains(name) else {
      if MigrateRow.folded.contains(MigrateRow.fold(name)) { throw .malformed(name) }
      return false
    }
    if case .null = value { return true }
    switch (name, value) {
    case ("account", .text(let text)): account = try MigrateRow.account(text)
    case ("evidence", _): evidences.append(try MigrateRow.evidence(value, name))
    case ("evidences", .list(let list)) where (1...32).contains(list.count):
      for item in list { evidences.append(try MigrateRow.evidence(item, name)) }
    case ("granted", .boolean(let flag)): granted = flag ? .yes : .no
    case ("granted", .integer(let time)): granted = .until(time)
    case ("receivedAtMs", .integer(let time)): receivedAtMs = time
    case ("accountToken", .text(let text)) where MigrateRow.isUUID(text):
      accountToken = text.lowercased()
    case ("transactionId", .text(let id)) where !id.isEmpty: hearsay.transactionId = id
    case ("originalTransactionId", .text(let id)) where !id.isEmpty:
      hearsay.originalTransactionId = id
    case ("environment", .text(let text)) where MigrateRow.environments.contains(text):
      hearsay.environment = text
    case ("expiresAtMs", .integer(let time)): hearsay.expiresAtMs = time
    case ("revoked", .boolean(let flag)): hearsay.isRevoked = flag
    default: throw .malformed(name)
    }
    return true
  }

  /// Refuses a row about nothing.
  func checked() throws(RowFault) -> MigrateRow {
    if evidences.isEmpty, hearsay.transactionId == nil, hearsay.originalTransactionId == nil {
      throw .malformed("evidence")
    }
    return self
  }

  private static func evidence(_ value: Value, _ name: String) throws(RowFault) -> [UInt8] {
    switch value {
    case .text(let text) where !text.isEmpty: Array(text.utf8)
    case .json(let bytes) where bytes.first == 0x7b: bytes
    default: throw .malformed(name)
    }
  }

  /// An account as the ledger takes it (STO-5): 1 … 255 bytes, no control characters, no space at
  /// either end.
  private static func account(_ text: String) throws(RowFault) -> String? {
    let isPlain = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard (1...255).contains(text.utf8.count), isPlain, text.utf8.first != 0x20,
      text.utf8.last != 0x20
    else { throw .malformed("account") }
    return text
  }

  private static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { place, byte in
        [8, 13, 18, 23].contains(place)
          ? byte == 0x2d : Character(UnicodeScalar(byte)).isHexDigit
      }
  }

  private static func fold(_ name: String) -> String {
    name.lowercased().filter { $0 != "_" && $0 != "-" }
  }
}
