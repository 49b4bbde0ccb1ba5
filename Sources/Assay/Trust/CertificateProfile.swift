/// The requirements for a certificate at one position of a chain, in the order in which they are
/// checked, each with the rule that its refusal cites.
struct CertificateProfile: Sendable {
  enum Demand: Sendable {
    /// X.509 version 3.
    case version
    /// A positive serial number of 1 to 20 bytes.
    case serial
    /// A signature algorithm that is in the list and equal in both fields.
    case signed([SignatureAlgorithm])
    /// An elliptic key on one of these curves.
    case curve([Curve])
    /// An RSA key whose length in bits is in the range.
    case modulus(ClosedRange<Int>)
    /// No extension twice, no name constraints, and no critical extension other than basic
    /// constraints, key usage and these.
    case extensions([[UInt8]])
    /// Basic constraints absent, or CA:FALSE.
    case leaf
    /// Basic constraints with CA:TRUE.
    case authority
    /// Critical basic constraints with CA:TRUE and a path length of 0 or none.
    case strictAuthority
    /// Key usage absent, or with this bit (RFC 5280 §6.1.4 (n)).
    case mayUse(Int)
    /// Key usage with this bit.
    case mustUse(Int)
    /// Key usage absent, or without this bit.
    case mustNotUse(Int)
    /// Extended key usage absent, or with this purpose.
    case purpose([UInt8])
    /// The marker of this purpose; its absence is reported with the status of the position.
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

  /// Checks all requirements; the first that fails is reported.
  func check(_ certificate: Certificate, at place: String) throws(Refusal) {
    for (demand, rule) in demands { try certificate.meet(demand, rule, at: place) }
  }

  /// Checks all requirements and decodes the key, which refuses a point that is not on its curve.
  ///
  /// - Parameter known: The key of the same certificate, if it was decoded before.
  func profiled(
    _ certificate: Certificate, at place: String, key known: PublicKey? = nil
  ) throws(Refusal) -> ProfiledCertificate {
    try check(certificate, at: place)
    guard let key = known ?? certificate.publicKey() else {
      throw Refusal(.rejectedChainKey, keyRule, at: place)
    }
    return ProfiledCertificate(certificate: certificate, key: key)
  }

  private var keyRule: StaticString { demands.first { $0.0.isOfKey }?.1 ?? "" }
}

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

  /// Compares bytes: DER has one encoding of each permitted form of basic constraints.
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
