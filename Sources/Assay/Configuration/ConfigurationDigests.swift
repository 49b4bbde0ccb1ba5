/// The two SHA-256 digests of an effective configuration (EXC-11).
struct ConfigurationDigests: Sendable {
  /// The digest of the settings that decide what counts as verified: verifiers with the same
  /// digest accept each other's evidence.
  let trust: [UInt8]
  /// The digest of the whole effective configuration.
  let whole: [UInt8]

  /// Members of a block that do not affect what counts as verified.
  private static let left: [(block: StaticString, members: [StaticString])] = [
    ("storekit", ["caps", "cache", "ocspHosts"]),
    ("receipts", ["sharedSecrets", "caps", "deviceIds"]),
    ("attest", ["time", "refreshEveryMs", "challenge"]),
  ]

  /// Computes both digests.
  ///
  /// - Parameters:
  ///   - effective: The whole effective configuration, as JSON.
  ///   - trusted: Its members that affect what counts as verified, as JSON.
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

  /// Writes the member `digests` of a configuration's document (DOC-6).
  func write(_ writer: inout JSONWriter) {
    writer.name("digests")
    writer.beginObject()
    writer.member("trust", hex: trust)
    writer.member("whole", hex: whole)
    writer.endObject()
  }
}
