/// What a session takes from the evidence alone (SES-1).
struct SessionEvidence {
  /// SHA-256 of the public key that verified, standard base64.
  let keyId: Text
  let appId: Text
  /// nil: an assertion does not tell.
  let isProduction: Bool?
  /// EXC-13.
  let isStored: Bool

  /// nil: no evidence of an attested key.
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
