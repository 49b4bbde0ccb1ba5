/// An intermediate that a pinned root signed. The dates of both are checked at each use.
final class ProvenIntermediate: Sendable {
  /// The source of the intermediate (PTH-14).
  enum Source: Sendable {
    case shipped, configured, embedded
    /// A fixed position in the evidence, as in `x5c`; documents omit this source.
    case fixedPosition

    var name: StaticString {
      switch self {
      case .shipped: return "shipped"
      case .configured: return "configured"
      case .embedded, .fixedPosition: return "embedded"
      }
    }
  }

  let certificate: Certificate
  let key: PublicKey
  let anchor: Anchor
  let source: Source
  /// The members `intermediate` and `root` of a document's `chain`, as JSON.
  let report: [UInt8]

  init(_ profiled: ProfiledCertificate, _ anchor: Anchor, _ source: Source) {
    certificate = profiled.certificate
    key = profiled.key
    self.anchor = anchor
    self.source = source
    var writer = JSONWriter(capacity: 420)
    writer.name("intermediate")
    writer.beginObject()
    certificate.writeReportMembers(&writer)
    if source != .fixedPosition { writer.member("source", source.name) }
    writer.endObject()
    writer.name("root")
    anchor.certificate.writeReport(&writer)
    report = writer.bytes
  }
}
