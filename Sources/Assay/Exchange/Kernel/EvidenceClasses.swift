/// The classes of evidence that an operation accepts (EXC-2), as contract/kinds.tsv names them.
struct EvidenceClasses: OptionSet, Sendable {
  let rawValue: UInt16

  /// Evidence of purchases: a signed transaction, renewal info or notification, a receipt, a
  /// verifyReceipt response.
  static let purchase = EvidenceClasses(rawValue: 1)
  static let transaction = EvidenceClasses(rawValue: 1 << 1)
  /// Signed data of the App Store, except Xcode's, which has no chain whose revocation could be
  /// checked.
  static let jws = EvidenceClasses(rawValue: 1 << 2)
  /// Signed data that names the device on which it was made.
  static let deviceJws = EvidenceClasses(rawValue: 1 << 3)
  static let transactionReceipt = EvidenceClasses(rawValue: 1 << 4)
  static let appReceipt = EvidenceClasses(rawValue: 1 << 5)
  static let attestReceipt = EvidenceClasses(rawValue: 1 << 6)
  static let attestation = EvidenceClasses(rawValue: 1 << 7)
  /// An attestation that contains an App Attest receipt.
  static let receiptedAttestation = EvidenceClasses(rawValue: 1 << 8)
  static let assertion = EvidenceClasses(rawValue: 1 << 9)
  static let keyset = EvidenceClasses(rawValue: 1 << 10)
  static let realtimeRequest = EvidenceClasses(rawValue: 1 << 11)
  /// A notification with Apple's question about a refund.
  static let refundNotification = EvidenceClasses(rawValue: 1 << 12)

  func take(_ evidence: VerifiedEvidence) -> Bool {
    if contains(.purchase) && evidence.purchaseSource != nil { return true }
    if contains(.refundNotification) && evidence.isRefundQuestion { return true }
    switch evidence {
    case .storeKit(let payload):
      return contains(.jws) && !payload.isXcode
        || contains(.deviceJws) && DeviceProof(payload) != nil
        || contains(.transaction) && payload.kind == .transaction
        || contains(.realtimeRequest) && payload.kind == .realtimeRequest
    case .transactionReceipt: return contains(.transactionReceipt)
    case .appReceipt: return contains(.appReceipt)
    case .attestReceipt: return contains(.attestReceipt)
    case .attestation(let attestation):
      return contains(.attestation)
        || contains(.receiptedAttestation) && attestation.receipt != nil
    case .assertion: return contains(.assertion)
    case .keyset: return contains(.keyset)
    case .receiptResponse, .several: return false
    }
  }
}
