/// The proof of a device key by an attestation or assertion. The evidence must be `live`, verified
/// at the current time, not at a stored one (EXC-13).
struct AttestProof: Sendable {
  /// SHA-256 of the public key, lower-case hex, as rows contain it.
  let keyId: Text
  /// SHA-256 of the challenge in the client data; `nil` if the host checks the challenge.
  let challenge: [UInt8]?
  /// The counter of an assertion; `nil` for an attestation.
  let counter: Int64?

  /// Creates the proof of the first evidence; `nil` if that is no attestation and no assertion.
  ///
  /// - Throws: `misuse.exchange.evidence`.
  init?(_ evidence: [VerifiedEvidence]) throws(Refusal) {
    let isStored: Bool
    switch evidence.first {
    case .attestation(let attestation):
      keyId = AttestProof.keyId(attestation.keyId)
      challenge = attestation.challenge
      counter = nil
      isStored = attestation.isStored
    case .assertion(let assertion, let signer):
      keyId = AttestProof.keyId(signer)
      challenge = assertion.challenge
      counter = Int64(assertion.counter)
      isStored = assertion.isStored
    default: return nil
    }
    try require(!isStored, .misuseExchangeEvidence, "EXC-13", at: "evidence[0]")
  }

  static func keyId(_ octets: [UInt8]) -> Text { Text(Hex.encode(octets)) }

  /// The user that a challenge consumed with this proof gets (STO-61).
  var user: Text {
    guard let counter else { return keyId }
    return Text(keyId.utf8 + Array((":" + String(counter)).utf8))
  }
}
