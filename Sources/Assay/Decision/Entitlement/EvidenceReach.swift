/// How far evidence reaches (DCD-18).
struct EvidenceReach: Sendable {
  var evidenceClass: EvidenceClass
  /// Kinds of the documents, sorted, each once.
  var kinds: [Text]
  /// As of when the chosen transaction was shown: what happened to it later is
  /// invisible. nil: there is no dated evidence.
  var asOf: Int64?
  var missing: [Gap]

  enum Gap: Sendable {
    case transaction, renewal, revocation

    var name: StaticString {
      switch self {
      case .transaction: return "transaction"
      case .renewal: return "renewal"
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
    writer.member("asOf", integer: asOf)
    writer.member("complete", boolean: missing.isEmpty)
    writer.name("missing")
    writer.beginArray()
    for gap in missing { writer.string(gap.name) }
    writer.endArray()
    writer.endObject()
  }
}
