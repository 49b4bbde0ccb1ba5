/// A path whose certificates are valid at the date of its evidence.
struct ValidPath: Sendable {
  let chain: ProvenChain
  let intermediate: ProvenIntermediate?
  let isCached: Bool

  /// Writes the value of `chain` in a document (PTH-14).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    chain.writeMembers(&writer, intermediate)
    writer.member("cached", boolean: isCached)
    writer.endObject()
  }
}
