/// `appleId`: the host's key for Sign in with Apple (docs/spec/configuration.md §9).
struct AppleIDPolicy: Sendable {
  let teamId: Text
  let keyId: Text
  let privateKey: PrivateKey
  /// The accepted client ids. Never empty.
  let clientIds: [Text]
}

/// The block `appleId` of a configuration.
enum AppleIDBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    let block = try node.object(ConfigurationTable.appleIdMembers)
    configuration.appleID = AppleIDPolicy(
      teamId: try readTeamId(block, configuration.apps),
      keyId: try KeyMembers.keyId(
        try block.required("keyId").refusing(.configAppleIdKeyId, "AID-20")),
      privateKey: try KeyMembers.privateKey(
        try block.required("privateKey").refusing(.configAppleIdKey, "AID-20")),
      clientIds: try readClientIds(block, configuration))
  }

  private static func readTeamId(
    _ block: MemberNode, _ apps: [Configuration.App]
  ) throws(Refusal) -> Text {
    if let entry = block["teamId"]?.refusing(.configAppleIdTeamId, "AID-20") {
      return try KeyMembers.teamId(entry)
    }
    guard let team = KeyMembers.team(of: apps) else {
      throw Refusal(.configAppleIdTeamId, "AID-20", at: block.path + ".teamId")
    }
    return team
  }

  /// Returns the configured client ids; without them the audiences of the identity token profile,
  /// and without a profile the bundle ids (AID-25).
  private static func readClientIds(
    _ block: MemberNode, _ configuration: Configuration
  ) throws(Refusal) -> [Text] {
    guard let list = block["clientIds"]?.refusing(.configAppleIdClients, "AID-25") else {
      return configuration.appleProfile?.profile.audiences
        ?? configuration.apps.map { $0.bundleId }
    }
    var ids: [Text] = []
    for entry in try list.elements(ConfigurationTable.appleIdClientIds) {
      let id = try entry.text(1...255)
      try require(!ids.contains(id), entry)
      ids.append(id)
    }
    return ids
  }
}

extension AppleIDPolicy {
  /// Writes the value of `appleId` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("teamId", teamId)
    writer.member("keyId", keyId)
    writer.member("privateKey", boolean: true)
    writer.texts("clientIds", clientIds)
    writer.endObject()
  }
}
