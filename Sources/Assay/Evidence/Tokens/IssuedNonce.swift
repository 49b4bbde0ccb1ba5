/// The nonce that the host issued for a sign-in with Apple (AID-4).
struct IssuedNonce: Sendable {
  /// The nonce; `nil` if the profile demands none and nothing is compared.
  private let text: Text?

  /// - Throws: `misuse.token.nonce` without a text where the profile demands one.
  init(_ text: Text?, _ profile: TokenProfile) throws(Refusal) {
    try require(
      text.map { !$0.isEmpty } ?? (profile.nonce == .none), .misuseTokenNonce, "AID-4",
      at: "nonce")
    self.text = text
  }

  /// Whether the token's nonce is this one, or the lower-case hex of its SHA-256, as the profile
  /// allows; `nil` if there is no issued nonce to compare.
  func matches(_ said: Text, _ form: TokenProfile.NonceForm) -> Bool? {
    guard let text else { return nil }
    let isPlain = ConstantTime.areEqual(said.utf8[...], text.utf8[...])
    let digest = Hex.encode(Digest.sha256.of(text.utf8))
    let isDigest = ConstantTime.areEqual(said.utf8[...], digest[...])
    return isPlain && form != .sha256 || isDigest && form != .plain
  }
}
