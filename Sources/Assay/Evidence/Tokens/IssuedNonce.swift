/// The nonce that the host issued for a sign-in with Apple (AID-4).
struct IssuedNonce: Sendable {
  /// nil: nothing is compared, by the profile's own word.
  private let text: Text?

  /// - Throws: `misuse.token.nonce` without a text where the profile demands one.
  init(_ text: Text?, _ profile: TokenProfile) throws(Refusal) {
    try require(
      text.map { !$0.isEmpty } ?? (profile.nonce == .none), .misuseTokenNonce, "AID-4",
      at: "nonce")
    self.text = text
  }

  /// Whether the app passed this one on, as it is or as the hex of its SHA-256; nil: there
  /// is nothing to compare with.
  func matches(_ said: Text, _ form: TokenProfile.NonceForm) -> Bool? {
    guard let text else { return nil }
    let isPlain = ConstantTime.areEqual(said.utf8[...], text.utf8[...])
    let digest = Hex.encode(Digest.sha256.of(text.utf8))
    let isDigest = ConstantTime.areEqual(said.utf8[...], digest[...])
    return isPlain && form != .sha256 || isDigest && form != .plain
  }
}
