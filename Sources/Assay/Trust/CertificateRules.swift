/// What the App Store profile demands of the leaf and the intermediate, apart
/// from names and signatures (JWS-22 … JWS-29). Each rule is one small check.
enum CertificateRules {
  static func checkLeaf(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try checkKey(certificate, [.p256], at: place)
    try checkExtensions(certificate, "JWS-26", at: place)
    try require(
      certificate.basicConstraints?.isAuthority != true, .rejectedChainLeafIsCa, "JWS-28",
      at: place)
    try checkUsage(certificate, Certificate.KeyUsage.digitalSignature, "JWS-28", at: place)
    try checkMarker(
      certificate, ObjectIdentifier.receiptSigning, .rejectedChainLeafMarker, at: place)
  }

  static func checkIntermediate(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try checkKey(certificate, [.p384, .p256], at: place)
    try checkExtensions(certificate, "JWS-26", at: place)
    try require(
      certificate.basicConstraints?.isAuthority == true, .rejectedChainNotCa, "JWS-27", at: place)
    try checkUsage(certificate, Certificate.KeyUsage.keyCertSign, "JWS-27", at: place)
    try checkMarker(
      certificate, ObjectIdentifier.developerRelations, .rejectedChainIntermediateMarker,
      at: place)
  }

  // MARK: the rules

  private static func checkForm(_ certificate: Certificate, at place: String) throws(Refusal) {
    try require(certificate.version == 3, .rejectedChainVersion, "JWS-22", at: place)
    try require(hasGoodSerial(certificate), .rejectedChainSerial, "JWS-23", at: place)
    try require(
      certificate.signatureAlgorithm == .ecdsa(.sha384)
        || certificate.signatureAlgorithm == .ecdsa(.sha256), .rejectedChainSignatureAlgorithm, "JWS-24", at: place)
  }

  /// JWS-23: positive, 1…20 content octets.
  static func hasGoodSerial(_ certificate: Certificate) -> Bool {
    let serial = certificate.bytes(certificate.serial)
    guard serial.count <= 20, let first = serial.first, first < 0x80 else { return false }
    return serial.contains { $0 != 0 }
  }

  private static func checkKey(
    _ certificate: Certificate, _ curves: [Curve], at place: String
  ) throws(Refusal) {
    guard case .elliptic(let curve) = certificate.keyType else {
      throw Refusal(.rejectedChainKey, "JWS-25", at: place)
    }
    try require(curves.contains(curve), .rejectedChainKey, "JWS-25", at: place)
  }

  /// JWS-26, and the same of other profiles, which may know further extensions.
  static func checkExtensions(
    _ certificate: Certificate, _ rule: StaticString, knowing known: [[UInt8]] = [],
    at place: String
  ) throws(Refusal) {
    var seen: [ArraySlice<UInt8>] = []
    for entry in certificate.extensions {
      let identifier = certificate.bytes(entry.identifier)
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

  /// Key usage binds only where it is present (RFC 5280 §6.1.4 (n)).
  static func checkUsage(
    _ certificate: Certificate, _ bit: Int, _ rule: StaticString, at place: String
  ) throws(Refusal) {
    try require(certificate.keyUsage?.has(bit) != false, .rejectedChainKeyUsage, rule, at: place)
  }

  private static func checkMarker(
    _ certificate: Certificate, _ identifier: [UInt8], _ status: Status, at place: String
  ) throws(Refusal) {
    try require(certificate.extension(identifier) != nil, status, "JWS-29", at: place)
  }
}
