/// An intermediate that a pinned root signed, apart from the dates of both, which are
/// judged at each use.
final class ProvenIntermediate: Sendable {
  /// Where it came from (PTH-14).
  enum Source: Sendable {
    case shipped, configured, embedded
    /// The evidence has one place for it, so that documents need not say.
    case inPlace

    var name: StaticString {
      switch self {
      case .shipped: return "shipped"
      case .configured: return "configured"
      case .embedded, .inPlace: return "embedded"
      }
    }
  }

  let certificate: Certificate
  let key: PublicKey
  let anchor: Anchor
  let source: Source
  /// The members `intermediate` and `root` of a document's `chain`.
  let report: [UInt8]

  init(_ shaped: ShapedCertificate, _ anchor: Anchor, _ source: Source) {
    certificate = shaped.certificate
    key = shaped.key
    self.anchor = anchor
    self.source = source
    var writer = JSONWriter(capacity: 420)
    writer.name("intermediate")
    writer.beginObject()
    certificate.writeReportMembers(&writer)
    if source != .inPlace { writer.member("source", source.name) }
    writer.endObject()
    writer.name("root")
    anchor.certificate.writeReport(&writer)
    report = writer.bytes
  }
}
