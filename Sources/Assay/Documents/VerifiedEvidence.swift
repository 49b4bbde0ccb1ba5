/// The evidence that a document proves, of any kind. Created only by a verification.
enum VerifiedEvidence: Sendable {
  case storeKit(SignedPayload)
  case transactionReceipt(TransactionReceipt)
  case appReceipt(AppReceipt)
  case attestReceipt(AttestReceipt)
  case attestation(Attestation)
  /// An assertion, with the SHA-256 of the key that signed it.
  case assertion(Assertion, signer: [UInt8])
  /// A verifyReceipt response, trusted because of the host's TLS connection (VRR-18).
  case receiptResponse(ReceiptResponse)
  /// The keys of a token issuer, which belong to no verifier: its rules decide whose keys they
  /// are.
  case keyset(Keyset)
  /// The results of a finished exchange, item by item (EXC-12).
  case several([VerifiedEvidence])
}

extension VerifiedEvidence {
  /// The items of `several`, or this evidence itself as the only item.
  var items: [VerifiedEvidence] {
    if case .several(let items) = self { return items }
    return [self]
  }

  /// Whether the evidence was made without a verifier, so that any may use it.
  var isOfEveryVerifier: Bool {
    if case .keyset = self { return true }
    return false
  }
}

extension VerifiedEvidence {
  /// Returns the purchases of one item for a decision.
  ///
  /// - Throws: `misuse.decision.evidence` for a kind without purchases, and the refusals of
  ///   incomplete evidence.
  func purchases(_ catalogue: Catalogue) throws(Refusal) -> PurchaseEvidence {
    switch self {
    case .storeKit(let payload): return try PurchaseEvidence(payload)
    case .transactionReceipt(let receipt): return try receipt.purchaseEvidence(catalogue)
    case .appReceipt(let receipt): return receipt.purchaseEvidence(catalogue)
    case .receiptResponse(let response): return try response.purchaseEvidence(catalogue)
    case .attestReceipt, .attestation, .assertion, .keyset, .several:
      throw Refusal(.misuseDecisionEvidence, "DCD-1")
    }
  }

  /// The verified source of purchase facts, for a notification that of its transaction; `nil` for
  /// a kind without purchases (STO-15).
  var purchaseSource: (bytes: [UInt8], isText: Bool)? {
    switch self {
    case .storeKit(let payload):
      switch payload.kind {
      case .appTransaction, .realtimeRequest: return nil
      case .transaction, .renewalInfo, .notification: break
      }
      let spoken = payload.notification?.nested(.transaction) ?? payload
      return (spoken.source, true)
    case .transactionReceipt(let receipt): return (receipt.transport.bytes, false)
    case .appReceipt(let receipt): return (receipt.transport.bytes, false)
    case .receiptResponse(let response): return (response.source, true)
    case .attestReceipt, .attestation, .assertion, .keyset, .several: return nil
    }
  }

  /// Whether the evidence is a notification of a reversed refund.
  var isReversal: Bool {
    guard case .storeKit(let payload) = self else { return false }
    return payload.text("notificationType") == "REFUND_REVERSED"
  }

  /// The bundle id that the exchange gave to a JWS without one (API-57); `nil` if the evidence has
  /// its own.
  var assumedBundleId: Text? {
    guard case .storeKit(let payload) = self, payload.identity.bundleIdIsAssumed else { return nil }
    return payload.identity.bundleId
  }
}
