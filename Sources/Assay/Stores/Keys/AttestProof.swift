/// What an attestation or an assertion proves about its key, judged live (EXC-13).
struct AttestProof: Sendable {
  /// SHA-256 of the key, lower-case hex, as rows have it.
  let keyId: Text
  /// SHA-256 of the challenge in the client data; nil: the host checks it.
  let challenge: [UInt8]?
  /// nil: an attestation.
  let counter: Int64?

  /// nil: there is no evidence.
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

  /// STO-61: who uses a challenge with it.
  var user: Text {
    guard let counter else { return keyId }
    return Text(keyId.utf8 + Array((":" + String(counter)).utf8))
  }
}
