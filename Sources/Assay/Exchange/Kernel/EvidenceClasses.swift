/// Kinds of documents that a request may be about (EXC-2), as contract/kinds.tsv names them.
struct EvidenceClasses: OptionSet, Sendable {
  let rawValue: UInt16

  /// What can be claimed: a signed transaction, renewal or notification, a receipt, an answer
  /// of verifyReceipt.
  static let purchase = EvidenceClasses(rawValue: 1)
  static let transaction = EvidenceClasses(rawValue: 1 << 1)
  /// Any but Xcode's, which has no chain to ask about.
  static let jws = EvidenceClasses(rawValue: 1 << 2)
  /// One that says on which device it was made.
  static let deviceJws = EvidenceClasses(rawValue: 1 << 3)
  static let transactionReceipt = EvidenceClasses(rawValue: 1 << 4)
  static let appReceipt = EvidenceClasses(rawValue: 1 << 5)
  static let attestReceipt = EvidenceClasses(rawValue: 1 << 6)
  static let attestation = EvidenceClasses(rawValue: 1 << 7)
  /// One with an App Attest receipt inside.
  static let receiptedAttestation = EvidenceClasses(rawValue: 1 << 8)
  static let assertion = EvidenceClasses(rawValue: 1 << 9)
  static let keyset = EvidenceClasses(rawValue: 1 << 10)

  func take(_ evidence: VerifiedEvidence) -> Bool {
    if contains(.purchase) && evidence.purchaseSource != nil { return true }
    switch evidence {
    case .storeKit(let payload):
      return contains(.jws) && !payload.isXcode
        || contains(.deviceJws) && DeviceProof(payload) != nil
        || contains(.transaction) && payload.kind == .transaction
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
