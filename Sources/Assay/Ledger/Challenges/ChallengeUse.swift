/// The use of a challenge: which one, for what, and by which proof.
struct ChallengeUse: Sendable {
  /// SHA-256 of the challenge, lower-case hex.
  let id: Text
  let purpose: Text
  let subject: Text
  /// The user of the challenge: the key id of an attestation, the key id and counter of an
  /// assertion, or a name that the host gives (STO-61).
  let by: Text
}
