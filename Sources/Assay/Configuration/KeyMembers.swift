/// The members that name a signing key, which several blocks have. Each node knows what
/// it is refused with.
enum KeyMembers {
  private static let idLength = 10

  /// A team id.
  static func teamId(_ entry: MemberNode) throws(Refusal) -> Text {
    let text = try entry.text(idLength...idLength)
    try require(text.utf8.allSatisfy(ConfigurationReader.isTeamCharacter), entry)
    return text
  }

  /// The team of the apps; nil where they have none, or several.
  static func team(of apps: [Configuration.App]) -> Text? {
    let teams = apps.compactMap { $0.teamId }
    guard let team = teams.first, teams.allSatisfy({ $0 == team }) else { return nil }
    return team
  }

  /// Ten letters and digits.
  static func keyId(_ entry: MemberNode) throws(Refusal) -> Text {
    let text = try entry.text(idLength...idLength)
    try require(
      text.utf8.allSatisfy {
        ConfigurationReader.isTeamCharacter($0) || ($0 >= 0x61 && $0 <= 0x7a)
      }, entry)
    return text
  }

  /// The key of a `.p8` file, whose text is wiped (EXC-10).
  static func privateKey(_ entry: MemberNode) throws(Refusal) -> PrivateKey {
    var text = entry.value.text?.utf8 ?? []
    defer { Secret.wipe(&text) }
    guard let key = PrivateKeyFile.read(text) else { throw entry.refusal(.range) }
    return key
  }
}
