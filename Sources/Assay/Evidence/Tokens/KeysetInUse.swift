/// A keyset with the profile that it belongs to, at a moment (JWK-9, KST-5, KST-7).
final class KeysetInUse: Sendable {
  /// Whose rules hold.
  let owner: TokenProfile.Shared
  /// The issuer whose keys they are.
  let issuer: Text
  private let fetchedMs: Int64?
  /// nil: the set does not say when it was fetched (TOK-33).
  private let ageMs: Int64?

  static func find(
    _ keyset: Keyset, _ profiles: [TokenProfile.Shared], nowMs: Int64
  ) throws(Refusal) -> KeysetInUse {
    guard let issuer = keyset.issuer ?? onlyIssuer(profiles),
      let owner = profiles.first(where: { $0.profile.issuers.contains(issuer) })
    else { throw Refusal(.misuseTokenKeyset, "JWK-9", at: "keys") }
    let found = KeysetInUse(owner, issuer, keyset.age?.fetchedMs, nowMs: nowMs)
    let limit = owner.profile.keysetHardMaxAgeMs
    try require(
      limit == MemberNode.exactInteger || (found.ageMs ?? 0) <= limit,
      .unavailableTokenKeysetTooOld, "KST-5", at: "keys")
    return found
  }

  private init(
    _ owner: TokenProfile.Shared, _ issuer: Text, _ fetchedMs: Int64?, nowMs: Int64
  ) {
    self.owner = owner
    self.issuer = issuer
    self.fetchedMs = fetchedMs
    ageMs = fetchedMs.map { Swift.max(0, nowMs &- $0) }
  }

  /// Where there is one, a set without a name is its own.
  static func onlyIssuer(_ profiles: [TokenProfile.Shared]) -> Text? {
    guard profiles.count == 1, let owner = profiles.first, owner.profile.issuers.count == 1
    else { return nil }
    return owner.profile.issuers.first
  }

  /// Whether a refresh is wanted (KST-1).
  var isStale: Bool? { ageMs.map { $0 > owner.profile.keysetMaxAgeMs } }

  /// The member `keyset` of a token's facts.
  func write(_ writer: inout JSONWriter) {
    writer.name("keyset")
    writer.beginObject()
    writer.member("issuer", issuer)
    writer.member("fetchedMs", integer: fetchedMs)
    writer.member("ageMs", integer: ageMs)
    writer.member("stale", boolean: isStale)
    writer.endObject()
  }
}
