/// The kind of a chain, which selects the profiles of its certificates, the rules that its
/// refusals cite, and the environments that its payload may claim (JWS-72).
enum ChainProfile: Sendable {
  case appStore
  /// A single pinned certificate of Xcode.
  case xcode
  /// Version 2 transaction receipts: under the iTunes Store intermediate, RSA-1024.
  case storeReceipt
  /// Version 3 transaction receipts and app receipts: under Worldwide Developer Relations.
  case receipt
  case attestation
  case attestReceipt

  /// The profiles of leaf and intermediate.
  var certificates: (leaf: CertificateProfile, intermediate: CertificateProfile) {
    switch self {
    case .appStore, .xcode: return (.appStoreLeaf, .appStoreIntermediate)
    case .storeReceipt: return (.storeReceiptLeaf, .storeReceiptIntermediate)
    case .receipt: return (.receiptLeaf, .receiptIntermediate)
    case .attestation: return (.attestLeaf, .attestIntermediate)
    case .attestReceipt: return (.attestReceiptLeaf, .attestReceiptIntermediate)
    }
  }

  /// The rules that refusals of a chain as a whole cite.
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

  /// The locations of the certificates in refusals.
  struct Locations {
    let leaf, intermediate, root: String
  }

  var locations: Locations {
    switch self {
    case .appStore, .xcode:
      return Locations(leaf: "x5c[0]", intermediate: "x5c[1]", root: "x5c[2]")
    case .storeReceipt, .receipt:
      return Locations(leaf: "leaf", intermediate: "intermediate", root: "root")
    case .attestation: return Locations(leaf: "x5c[0]", intermediate: "x5c[1]", root: "root")
    case .attestReceipt:
      return Locations(leaf: "signer", intermediate: "intermediate", root: "root")
    }
  }

  /// Whether the intermediate was reissued under its name and key (PTH-3). All its certificates
  /// are then candidates, the evidence's date selects one, and the refusal of the candidate that
  /// passed most checks is reported.
  var hasReissuedIntermediates: Bool { self == .storeReceipt || self == .receipt }

  /// Decodes a certificate, which must be exactly one DER value (JWS-21, PTH-4, FRC-4).
  func certificate(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    guard let certificate = Certificate(der) else {
      throw Refusal(.malformedChainDer, rules.form, at: place)
    }
    return certificate
  }

  /// Decodes a certificate of a PKCS#7 container, which has a limit of its own.
  func embedded(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    try require(
      der.count <= ChainProfile.embeddedByteCap, .tooLargeChainCertificate, rules.form, at: place)
    return try certificate(der, at: place)
  }

  private static let embeddedByteCap = 4096
  /// The most certificates of one container (docs/spec/receipts.md §1, FRC-1).
  static let embeddedCap = 8
}
