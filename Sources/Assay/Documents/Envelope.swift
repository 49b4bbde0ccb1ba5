/// Writes the envelope of every call's document (docs/spec/documents-and-exchanges.md §1): the
/// same members in the same order for every kind, and the facts as the last (DOC-7).
struct Envelope {
  let kind: StaticString
  let factsMember: StaticString
  let checks: CheckLog
  var configuration: [UInt8] = []
  var isConfidential = false
  /// The value of `error.keyset` if a token's key is unknown.
  var keysetAdvice: StaticString? = nil

  /// Returns a document with status 0. `facts` writes one value.
  func accepted(
    _ evidence: VerifiedEvidence?, warnings: (inout JSONWriter) -> Void = { _ in },
    capacity: Int = 4096, facts: (inout JSONWriter) -> Void
  ) -> Document {
    var writer = JSONWriter(capacity: capacity)
    begin(.ok, &writer)
    end(.ok, &writer, warnings, facts)
    return Document(
      status: .ok, json: writer.bytes, evidence: evidence, configuration: configuration,
      isConfidential: isConfidential)
  }

  /// Returns the document of a refusal. Its facts are null, except for kinds whose result is the
  /// library's own, such as a decision (DOC-1). `facts` writes that value, and then any members
  /// that only this kind has (TRI-12).
  func refused(
    _ refusal: Refusal, check: StaticString? = nil,
    warnings: (inout JSONWriter) -> Void = { _ in }, capacity: Int = 2048,
    facts: (inout JSONWriter) -> Void = { $0.null() }
  ) -> Document {
    var writer = JSONWriter(capacity: capacity)
    begin(refusal.status, &writer)
    let entry = StatusTable.entry(refusal.status.code)
    writer.name("error")
    writer.beginObject()
    writer.name("message")
    if refusal.detail.isEmpty {
      // Messages in the table need no escaping.
      writer.string(entry?.message ?? "")
    } else {
      writer.string(Envelope.message(entry, refusal))
    }
    writer.member("check", check ?? checks.failed)
    writer.member("rule", refusal.rule)
    writer.name("at")
    if refusal.place.isEmpty { writer.null() } else { writer.string(refusal.place) }
    writer.name("hint")
    let hint = Text(stringLiteral: hint(refusal) ?? entry?.hint ?? "")
    writer.string(refusal.said.map { Text(hint.utf8 + [0x3a, 0x20] + $0.utf8) } ?? hint)
    writer.member("retryClass", refusal.retryClass ?? entry?.retryClass ?? "never")
    if let keysetAdvice { writer.member("keyset", keysetAdvice) }
    writer.endObject()
    end(refusal.status, &writer, warnings, facts)
    return Document(
      status: refusal.status, json: writer.bytes, configuration: configuration,
      isConfidential: isConfidential)
  }

  /// Returns the hint for this kind of evidence; `nil` if the table's hint fits all kinds.
  private func hint(_ refusal: Refusal) -> StaticString? {
    if let found = refusal.hint { return found.text }
    guard let kind = refusal.hintKind ?? HintKind(document: kind) else { return nil }
    return StatusTable.hint(refusal.status.code, kind)
  }

  private static func message(_ entry: StatusEntry?, _ refusal: Refusal) -> Text {
    let sentence = Text(stringLiteral: entry?.message ?? "")
    return Text(sentence.utf8 + [0x3a, 0x20] + Array(refusal.detail.utf8))
  }

  private func begin(_ status: Status, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("assay", integer: 1)
    writer.member("kind", kind)
    writer.member("ok", boolean: status == .ok)
    writer.name("status")
    writer.beginObject()
    writer.member("code", integer: Int64(status.code))
    writer.member("name", status.name)
    writer.endObject()
  }

  private func end(
    _ status: Status, _ writer: inout JSONWriter, _ warnings: (inout JSONWriter) -> Void,
    _ facts: (inout JSONWriter) -> Void
  ) {
    checks.write(isRefused: status != .ok, &writer)
    writer.name("warnings")
    writer.beginArray()
    warnings(&writer)
    writer.endArray()
    writer.name(factsMember)
    facts(&writer)
    writer.endObject()
  }
}
