/// An intermediate that was proven under a pinned root, apart from its dates.
final class ReceiptIntermediate: Sendable {
  /// Where it came from (PTH-14).
  enum Source: Sendable {
    case shipped, configured, embedded

    var name: StaticString {
      switch self {
      case .shipped: return "shipped"
      case .configured: return "configured"
      case .embedded: return "embedded"
      }
    }
  }

  let certificate: Certificate
  let key: RSAPublicKey
  let anchor: ReceiptAnchor
  let source: Source
  /// The members `intermediate` and `root` of a document's `chain`.
  let report: [UInt8]

  init(_ certificate: Certificate, _ key: RSAPublicKey, _ anchor: ReceiptAnchor, _ source: Source) {
    self.certificate = certificate
    self.key = key
    self.anchor = anchor
    self.source = source
    var writer = JSONWriter(capacity: 420)
    writer.name("intermediate")
    writer.beginObject()
    certificate.writeReportMembers(&writer)
    writer.member("source", source.name)
    writer.endObject()
    writer.name("root")
    anchor.certificate.writeReport(&writer)
    report = writer.bytes
  }
}
