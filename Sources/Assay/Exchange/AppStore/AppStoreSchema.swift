/// An object in a request to Apple: its members in the order in which they are written (ENP-3).
/// A class, so that schemas may nest.
final class AppStoreSchema: Sendable {
  let members: [AppStoreMember]

  init(_ members: [AppStoreMember]) {
    self.members = members
  }

  /// Returns the checked object as JSON without white space.
  ///
  /// - Throws: `misuse.app-store.parameter`, for an unknown member too: a typing error must not
  ///   be sent.
  func read(
    _ node: MemberNode, isStrict: Bool, _ warnings: inout [Warning]
  ) throws(Refusal) -> [UInt8] {
    for child in try node.members() {
      let isKnown = members.contains { child.value.isNamed($0.name) }
      try require(isKnown, .misuseAppStoreParameter, "ENP-3", at: child.path)
    }
    var writer = JSONWriter()
    writer.beginObject()
    for member in members {
      let values = try member.values(node[member.name], in: node, isStrict: isStrict, &warnings)
      member.write(values, &writer)
    }
    writer.endObject()
    return writer.bytes
  }
}
