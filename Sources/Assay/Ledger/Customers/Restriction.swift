/// Why an account has the default plan, whatever it has paid (CUS-22).
struct Restriction: Sendable {
  /// The reasons, in the words of requests and rows.
  static let reasons: [StaticString] = ["consent", "operator", "fraud", "legal"]

  let account: Text
  /// The key of the download whose consent was withdrawn, or the reason.
  let source: Text
  let reason: Text
  let restrictedAtMs: Int64

  /// Whether consent was withdrawn at the download that is the source.
  var isOfConsent: Bool { reason == "consent" }

  /// The columns in the order of contract/store/tables.tsv.
  static let columns: [StaticString] = ["account", "source", "reason", "restricted_at_ms"]

  init(account: Text, source: Text, reason: Text, restrictedAtMs: Int64) {
    self.account = account
    self.source = source
    self.reason = reason
    self.restrictedAtMs = restrictedAtMs
  }

  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    account = try row.text()
    source = try row.text()
    reason = try row.text()
    restrictedAtMs = try row.integer()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("account", .text(account)), ("source", .text(source)), ("reason", .text(reason)),
      ("restricted_at_ms", .integer(restrictedAtMs)),
    ]
  }

  /// The end of the id of an audit row, the same for every repetition.
  func auditId(_ more: Text) -> Text {
    Text(
      Hex.encode(
        Digest.sha256.of(account.utf8 + [0x0a] + source.utf8 + [0x0a] + more.utf8)))
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("reason", reason)
    writer.member("restrictedAtMs", integer: restrictedAtMs)
    writer.endObject()
  }
}

extension Array where Element == Restriction {
  /// The oldest restriction; `nil` without one.
  var oldest: Restriction? {
    var oldest: Restriction? = nil
    for restriction in self
    where oldest.map({ restriction.restrictedAtMs < $0.restrictedAtMs }) ?? true {
      oldest = restriction
    }
    return oldest
  }

  /// Writes the member `restriction`.
  func write(_ writer: inout JSONWriter) {
    writer.name("restriction")
    if let oldest { oldest.write(&writer) } else { writer.null() }
  }
}
