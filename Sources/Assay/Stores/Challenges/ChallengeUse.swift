/// Who uses a challenge, and for what.
struct ChallengeUse: Sendable {
  /// SHA-256, lower-case hex.
  let id: Text
  let purpose: Text
  let subject: Text
  /// STO-61: a key id, a key id and a counter, or what the host names.
  let by: Text
}
