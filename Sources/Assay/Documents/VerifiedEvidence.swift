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

extension VerifiedEvidence {
  /// What one piece says about purchases, whatever its kind.
  ///
  /// - Throws: `misuse.decide.evidence` for a kind that says nothing about them, and what
  ///   its form lacks.
  func purchases(_ catalogue: Catalogue) throws(Refusal) -> PurchaseEvidence {
    switch self {
    case .storeKit(let payload): return try PurchaseEvidence(payload)
    case .transactionReceipt(let receipt): return try receipt.purchaseEvidence(catalogue)
    case .appReceipt(let receipt): return receipt.purchaseEvidence(catalogue)
    case .receiptResponse(let response): return try response.purchaseEvidence(catalogue)
    case .attestReceipt, .attestation, .assertion, .keyset, .several:
      throw Refusal(.misuseDecideEvidence, "DCD-1")
    }
  }

  /// STO-15: what was verified about purchases: of a notification the transaction inside.
  /// nil: nothing about them.
  var purchaseSource: (bytes: [UInt8], isText: Bool)? {
    switch self {
    case .storeKit(let payload):
      switch payload.kind {
      case .appTransaction, .realtimeRequest: return nil
      case .transaction, .renewal, .notification: break
      }
      let spoken = payload.notification?.nested(.transaction) ?? payload
      return (spoken.source, true)
    case .transactionReceipt(let receipt): return (receipt.transport.bytes, false)
    case .appReceipt(let receipt): return (receipt.transport.bytes, false)
    case .receiptResponse(let response): return (response.source, true)
    case .attestReceipt, .attestation, .assertion, .keyset, .several: return nil
    }
  }
}
