/// Reads the members of a signing key, which several blocks have. The nodes carry the statuses of
/// each block.
enum KeyMembers {
  private static let idLength = 10

  /// Reads a team id: 10 characters A–Z 0–9.
  static func teamId(_ entry: MemberNode) throws(Refusal) -> Text {
    let text = try entry.text(idLength...idLength)
    try require(text.utf8.allSatisfy(ConfigurationReader.isTeamCharacter), entry)
    return text
  }

  /// Returns the team that all apps with a team have in common; `nil` if there is none.
  static func team(of apps: [Configuration.App]) -> Text? {
    let teams = apps.compactMap { $0.teamId }
    guard let team = teams.first, teams.allSatisfy({ $0 == team }) else { return nil }
    return team
  }

  /// Reads a key id: 10 letters and digits.
  static func keyId(_ entry: MemberNode) throws(Refusal) -> Text {
    let text = try entry.text(idLength...idLength)
    try require(
      text.utf8.allSatisfy {
        ConfigurationReader.isTeamCharacter($0) || ($0 >= 0x61 && $0 <= 0x7a)
      }, entry)
    return text
  }

  /// Reads the key of a `.p8` file and wipes its text (EXC-10).
  static func privateKey(_ entry: MemberNode) throws(Refusal) -> PrivateKey {
    var text = entry.value.text?.utf8 ?? []
    defer { Secret.wipe(&text) }
    guard let key = PrivateKeyFile.read(text) else { throw entry.refusal(.range) }
    return key
  }
}
