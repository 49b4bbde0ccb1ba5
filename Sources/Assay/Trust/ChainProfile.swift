/// Whose chain it is, and so what its certificates must be, which rules a refusal
/// cites, and what its payload may claim (JWS-72).
enum ChainProfile: Sendable {
  case appStore
  /// One pinned certificate of Xcode's.
  case xcode
  /// Version 2 transaction receipts: iTunes Store line, RSA-1024.
  case storeReceipt
  /// Version 3 transaction receipts and app receipts: Worldwide Developer Relations line.
  case receipt
  case attestation
  case attestReceipt

  /// What leaf and intermediate must be.
  var certificates: (leaf: CertificateProfile, intermediate: CertificateProfile) {
    switch self {
    case .appStore, .xcode: return (.appStoreLeaf, .appStoreIntermediate)
    case .storeReceipt: return (.storeReceiptLeaf, .storeReceiptIntermediate)
    case .receipt: return (.receiptLeaf, .receiptIntermediate)
    case .attestation: return (.attestLeaf, .attestIntermediate)
    case .attestReceipt: return (.attestReceiptLeaf, .attestReceiptIntermediate)
    }
  }

  /// What refusals of a chain as a whole cite.
  struct Rules {
    let form, root, signature, dates: StaticString
  }

  var rules: Rules {
    switch self {
    case .appStore, .xcode:
      return Rules(form: "JWS-21", root: "JWS-20", signature: "JWS-31", dates: "JWS-43")
    case .storeReceipt, .receipt:
      return Rules(form: "PTH-4", root: "PTH-5", signature: "PTH-5", dates: "PTH-11")
    case .attestation:
      return Rules(form: "JWS-21", root: "ATT-30", signature: "ATT-31", dates: "ATT-40")
    case .attestReceipt:
      return Rules(form: "FRC-4", root: "FRC-4", signature: "FRC-4", dates: "FRC-5")
    }
  }

  /// Where refusals say that a certificate stands.
  struct Places {
    let leaf, intermediate, root: String
  }

  var places: Places {
    switch self {
    case .appStore, .xcode:
      return Places(leaf: "x5c[0]", intermediate: "x5c[1]", root: "x5c[2]")
    case .storeReceipt, .receipt:
      return Places(leaf: "leaf", intermediate: "intermediate", root: "root")
    case .attestation: return Places(leaf: "x5c[0]", intermediate: "x5c[1]", root: "root")
    case .attestReceipt:
      return Places(leaf: "signer", intermediate: "intermediate", root: "root")
    }
  }

  /// PTH-3: the authority was reissued under its name and key, so that all its
  /// certificates are looked for, a date chooses, and the refusal of the one that came
  /// furthest is told.
  var sharesKeys: Bool { self == .storeReceipt || self == .receipt }

  /// One clean DER value (JWS-21, PTH-4, FRC-4).
  func certificate(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    guard let certificate = Certificate(der) else {
      throw Refusal(.malformedChainDer, rules.form, at: place)
    }
    return certificate
  }

  /// The same of a certificate out of a bag, which has a limit of its own.
  func embedded(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    try require(
      der.count <= ChainProfile.embeddedByteCap, .tooLargeChainCertificate, rules.form, at: place)
    return try certificate(der, at: place)
  }

  private static let embeddedByteCap = 4096
  /// Certificates of one bag (docs/spec/receipts.md §1, FRC-1).
  static let embeddedCap = 8
}
