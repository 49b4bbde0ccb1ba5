/// The part of a session token that comes from evidence and not from the request (SES-1).
struct SessionEvidence {
  /// The SHA-256 of the public key that verified, in standard base64.
  let keyId: Text
  let appId: Text
  /// Whether the key is of the production environment; `nil` for an assertion, which does not
  /// name it.
  let isProduction: Bool?
  /// Whether the evidence was verified as `stored` and not as `live` (EXC-13).
  let isStored: Bool

  /// Returns `nil` if the evidence is not of an attested key.
  init?(_ evidence: VerifiedEvidence?) {
    switch evidence {
    case .attestation(let attestation):
      keyId = Text(Base64.encodeStandard(attestation.keyId))
      appId = attestation.appId
      isProduction = attestation.isProduction
      isStored = attestation.isStored
    case .assertion(let assertion, let signer):
      keyId = Text(Base64.encodeStandard(signer))
      appId = assertion.appId
      isProduction = nil
      isStored = assertion.isStored
    default: return nil
    }
  }
}
