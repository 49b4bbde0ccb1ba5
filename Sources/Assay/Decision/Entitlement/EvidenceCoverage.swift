/// How far the evidence of a decision reaches (DCD-18).
struct EvidenceCoverage: Sendable {
  var evidenceClass: EvidenceClass
  /// The kinds of the documents, sorted, each once.
  var kinds: [Text]
  /// The time of the newest evidence of the deciding transaction, in milliseconds since 1970 UTC;
  /// later changes are unknown. `nil` if no evidence has a date.
  var asOfMs: Int64?
  var missing: [Gap]

  enum Gap: Sendable {
    case transaction, renewalInfo, revocation

    var name: StaticString {
      switch self {
      case .transaction: return "transaction"
      case .renewalInfo: return "renewal-info"
      case .revocation: return "revocation"
      }
    }
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("class", evidenceClass.name)
    writer.name("kinds")
    writer.beginArray()
    for kind in kinds { writer.string(kind) }
    writer.endArray()
    writer.member("asOfMs", integer: asOfMs)
    writer.member("complete", boolean: missing.isEmpty)
    writer.name("missing")
    writer.beginArray()
    for gap in missing { writer.string(gap.name) }
    writer.endArray()
    writer.endObject()
  }
}
