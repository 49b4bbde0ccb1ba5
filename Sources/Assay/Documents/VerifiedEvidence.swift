/// What a document proves, whatever kind of evidence it was made from. Only a
/// verification makes one.
enum VerifiedEvidence: Sendable {
  case storeKit(SignedPayload)
  case transactionReceipt(TransactionReceipt)
  case appReceipt(AppReceipt)
  case attestReceipt(AttestReceipt)
  case attestation(Attestation)
  /// With the SHA-256 of the key that made it.
  case assertion(Assertion, signer: [UInt8])
  /// Trusted because of the host's TLS (VRR-18).
  case receiptResponse(ReceiptResponse)
  /// The keys of a token issuer: of no verifier's, whose rules judge whose they are.
  case keyset(Keyset)
  /// What a finished conversation proves, item by item (EXC-12).
  case several([VerifiedEvidence])
}

extension VerifiedEvidence {
  /// Each piece by itself.
  var items: [VerifiedEvidence] {
    if case .several(let items) = self { return items }
    return [self]
  }

  /// Made without a verifier.
  var isOfEveryVerifier: Bool {
    if case .keyset = self { return true }
    return false
  }
}
