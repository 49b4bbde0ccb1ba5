/// The two fingerprints of an effective configuration, SHA-256 both (EXC-11).
struct ConfigurationDigests: Sendable {
  /// What counts as proven: verifiers with the same take each other's evidence.
  let trust: [UInt8]
  /// The whole policy.
  let whole: [UInt8]

  /// Members of a block that say nothing about what is proven.
  private static let left: [(block: StaticString, members: [StaticString])] = [
    ("storekit", ["caps", "cache", "ocspHosts"]),
    ("receipts", ["sharedSecrets", "caps", "deviceIds"]),
    ("attest", ["time", "refreshEveryMs", "challenge"]),
  ]

  /// - Parameters:
  ///   - effective: the whole configuration, as a document shows it.
  ///   - trusted: of it the members that *trust* is about.
  /// - Throws: `internal.assay.bug`: what was written cannot be read.
  init(effective: [UInt8], trusted: [UInt8]) throws(Refusal) {
    whole = Digest.sha256.of(effective)
    guard let root = try? JSONReader.readObject(trusted, caps: .configuration).root
    else { throw Refusal(.internalAssayBug, "EXC-11", at: "digests") }
    var writer = JSONWriter(capacity: trusted.count)
    writer.beginObject()
    for block in root.children { ConfigurationDigests.write(block, &writer) }
    writer.endObject()
    trust = Digest.sha256.of(writer.bytes)
  }

  private static func write(_ block: JSONValue, _ writer: inout JSONWriter) {
    writer.name(block.name)
    guard let left = left.first(where: { block.isNamed($0.block) }), block.kind == .object else {
      writer.raw(block.kind == .string ? block.quotedSource : block.source)
      return
    }
    writer.beginObject()
    for member in block.children where !left.members.contains(where: { member.isNamed($0) }) {
      writer.name(member.name)
      writer.raw(member.kind == .string ? member.quotedSource : member.source)
    }
    writer.endObject()
  }

  /// The member `digests` of a configuration's document (DOC-6).
  func write(_ writer: inout JSONWriter) {
    writer.name("digests")
    writer.beginObject()
    writer.member("trust", hex: trust)
    writer.member("whole", hex: whole)
    writer.endObject()
  }
}
