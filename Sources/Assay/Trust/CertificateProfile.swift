/// What a certificate must be to stand at one place of a chain: a row of demands, in
/// the order in which they are made, each with the rule that a refusal cites.
struct CertificateProfile: Sendable {
  enum Demand: Sendable {
    /// Version 3.
    case version
    /// A positive serial number of 1 … 20 octets.
    case serial
    /// Both algorithm fields agree on one of these.
    case signed([SignatureAlgorithm])
    /// A key on one of these named curves.
    case curve([Curve])
    /// An RSA key of so many bits.
    case modulus(ClosedRange<Int>)
    /// None twice, no name constraints, and none critical but basic constraints, key
    /// usage and these.
    case extensions([[UInt8]])
    /// Basic constraints absent, or CA:FALSE.
    case leaf
    /// CA:TRUE.
    case authority
    /// The same, critical, with path length 0 or none.
    case strictAuthority
    /// The bit of the key usage, where there is one (RFC 5280 §6.1.4 (n)).
    case mayUse(Int)
    /// A key usage with this bit.
    case mustUse(Int)
    /// No key usage, or one without this bit.
    case mustNotUse(Int)
    /// No extended key usage, or one with this purpose.
    case purpose([UInt8])
    /// The extension with which Apple marks certificates of this purpose.
    case leafMark([UInt8])
    case intermediateMark([UInt8])

    fileprivate var isOfKey: Bool {
      switch self {
      case .curve, .modulus: return true
      default: return false
      }
    }
  }

  private let demands: [(Demand, StaticString)]

  init(_ demands: [(Demand, StaticString)]) { self.demands = demands }

  /// All demands; the first that fails refuses.
  func check(_ certificate: Certificate, at place: String) throws(Refusal) {
    for (demand, rule) in demands { try certificate.meet(demand, rule, at: place) }
  }

  /// All demands, and the key: a point on no curve is found here. `key`: that of the
  /// same certificate, where it was made before.
  func shaped(
    _ certificate: Certificate, at place: String, key known: PublicKey? = nil
  ) throws(Refusal) -> ShapedCertificate {
    try check(certificate, at: place)
    guard let key = known ?? certificate.publicKey() else {
      throw Refusal(.rejectedChainKey, keyRule, at: place)
    }
    return ShapedCertificate(certificate: certificate, key: key)
  }

  private var keyRule: StaticString { demands.first { $0.0.isOfKey }?.1 ?? "" }
}

/// Each demand is one small check.
extension Certificate {
  fileprivate func meet(
    _ demand: CertificateProfile.Demand, _ rule: StaticString, at place: String
  ) throws(Refusal) {
    switch demand {
    case .version: try require(version == 3, .rejectedChainVersion, rule, at: place)
    case .serial: try require(hasGoodSerial, .rejectedChainSerial, rule, at: place)
    case .signed(let algorithms):
      let algorithm = signatureAlgorithm
      try require(
        algorithms.contains { $0 == algorithm }, .rejectedChainSignatureAlgorithm, rule,
        at: place)
    case .curve(let curves):
      let type = keyType
      try require(
        curves.contains { .elliptic($0) == type }, .rejectedChainKey, rule, at: place)
    case .modulus(let range):
      try require(hasModulus(of: range), .rejectedChainKey, rule, at: place)
    case .extensions(let known): try checkExtensions(known, rule, at: place)
    case .leaf:
      try require(
        basicConstraints?.isAuthority != true, .rejectedChainLeafIsCa, rule, at: place)
    case .authority:
      try require(
        basicConstraints?.isAuthority == true, .rejectedChainNotCa, rule, at: place)
    case .strictAuthority:
      try require(isStrictAuthority, .rejectedChainNotCa, rule, at: place)
    case .mayUse(let bit):
      try require(keyUsage?.has(bit) != false, .rejectedChainKeyUsage, rule, at: place)
    case .mustUse(let bit):
      try require(keyUsage?.has(bit) == true, .rejectedChainKeyUsage, rule, at: place)
    case .mustNotUse(let bit):
      try require(keyUsage?.has(bit) != true, .rejectedChainKeyUsage, rule, at: place)
    case .purpose(let purpose):
      try require(allows(purpose), .rejectedChainExtendedKeyUsage, rule, at: place)
    case .leafMark(let mark):
      try require(`extension`(mark) != nil, .rejectedChainLeafMarker, rule, at: place)
    case .intermediateMark(let mark):
      try require(`extension`(mark) != nil, .rejectedChainIntermediateMarker, rule, at: place)
    }
  }

  private var hasGoodSerial: Bool {
    let serial = bytes(serial)
    guard serial.count <= 20, let first = serial.first, first < 0x80 else { return false }
    return serial.contains { $0 != 0 }
  }

  private func hasModulus(of range: ClosedRange<Int>) -> Bool {
    guard case .rsa(let bits) = keyType else { return false }
    return range.contains(bits)
  }

  private func checkExtensions(
    _ known: [[UInt8]], _ rule: StaticString, at place: String
  ) throws(Refusal) {
    var seen: [ArraySlice<UInt8>] = []
    for entry in extensions {
      let identifier = bytes(entry.identifier)
      try require(
        !seen.contains(identifier), .rejectedChainDuplicateExtension, rule, at: place)
      seen.append(identifier)
      try require(
        !identifier.elementsEqual(ObjectIdentifier.nameConstraints),
        .rejectedChainNameConstraints, rule, at: place)
      let isKnown =
        identifier.elementsEqual(ObjectIdentifier.basicConstraints)
        || identifier.elementsEqual(ObjectIdentifier.keyUsage)
        || known.contains { identifier.elementsEqual($0) }
      try require(
        isKnown || !entry.isCritical, .rejectedChainCriticalExtension, rule, at: place)
    }
  }

  /// DER has one spelling for each form of these basic constraints.
  private var isStrictAuthority: Bool {
    guard let entry = `extension`(ObjectIdentifier.basicConstraints), entry.isCritical else {
      return false
    }
    let value = bytes(entry.value)
    return value.elementsEqual([0x30, 0x03, 0x01, 0x01, 0xff])
      || value.elementsEqual([0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00])
  }

  private func allows(_ wanted: [UInt8]) -> Bool {
    guard let usage = `extension`(ObjectIdentifier.extendedKeyUsage) else { return true }
    var outer = DER.Cursor(der, usage.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else { return false }
    var purposes = DER.Cursor(der, list.content)
    var isFound = false
    while !purposes.isAtEnd {
      guard let purpose = purposes.next(DER.objectIdentifier) else { return false }
      isFound = isFound || bytes(purpose.content).elementsEqual(wanted)
    }
    return isFound
  }
}
