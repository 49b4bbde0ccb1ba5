/// A key set together with the profile of its issuer (JWK-9, KST-7), young enough at the moment
/// of a verification (KST-5).
final class KeysetInUse: Sendable {
  /// The profile whose rules apply.
  let owner: TokenProfile.Shared
  /// The issuer of the keys.
  let issuer: Text
  private let fetchedAtMs: Int64?
  /// The age of the key set in milliseconds; `nil` if its text has no time of fetching (TOK-33).
  private let ageMs: Int64?

  static func find(
    _ keyset: Keyset, _ profiles: [TokenProfile.Shared], nowMs: Int64
  ) throws(Refusal) -> KeysetInUse {
    guard let issuer = keyset.issuer ?? onlyIssuer(profiles),
      let owner = profiles.first(where: { $0.profile.issuers.contains(issuer) })
    else { throw Refusal(.misuseTokenKeyset, "JWK-9", at: "keys") }
    let found = KeysetInUse(owner, issuer, keyset.age?.fetchedAtMs, nowMs: nowMs)
    let limit = owner.profile.keysetHardMaxAgeMs
    try require(
      limit == MemberNode.exactInteger || (found.ageMs ?? 0) <= limit,
      .unavailableTokenKeysetTooOld, "KST-5", at: "keys")
    return found
  }

  private init(
    _ owner: TokenProfile.Shared, _ issuer: Text, _ fetchedAtMs: Int64?, nowMs: Int64
  ) {
    self.owner = owner
    self.issuer = issuer
    self.fetchedAtMs = fetchedAtMs
    ageMs = fetchedAtMs.map { Swift.max(0, nowMs &- $0) }
  }

  /// Returns the only configured issuer, to which a key set without an issuer belongs; `nil` if
  /// there are several.
  static func onlyIssuer(_ profiles: [TokenProfile.Shared]) -> Text? {
    guard profiles.count == 1, let owner = profiles.first, owner.profile.issuers.count == 1
    else { return nil }
    return owner.profile.issuers.first
  }

  /// Whether the key set should be refreshed (KST-1); `nil` if its age is unknown.
  var isStale: Bool? { ageMs.map { $0 > owner.profile.keysetMaxAgeMs } }

  /// Writes the member `keyset` of a token's facts.
  func write(_ writer: inout JSONWriter) {
    writer.name("keyset")
    writer.beginObject()
    writer.member("issuer", issuer)
    writer.member("fetchedAtMs", integer: fetchedAtMs)
    writer.member("ageMs", integer: ageMs)
    writer.member("stale", boolean: isStale)
    writer.endObject()
  }
}
