/// What the chain of an attestation demands of its leaf and intermediate, apart
/// from names, signatures and dates (ATT-30 … ATT-34). Each rule is one small
/// check. libcrypto's strict mode would refuse every genuine leaf: they have no
/// key identifiers (ATT-32).
enum AttestRules {
  static func checkLeaf(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try require(
      certificate.signatureAlgorithm == .ecdsa(.sha384)
        || certificate.signatureAlgorithm == .ecdsa(.sha256), .rejectedChainSignatureAlgorithm, "ATT-31", at: place)
    try require(certificate.keyType == .elliptic(.p256), .rejectedChainKey, "ATT-31", at: place)
    try CertificateRules.checkExtensions(certificate, "ATT-34", knowing: known, at: place)
    try require(
      certificate.basicConstraints?.isAuthority != true, .rejectedChainLeafIsCa, "ATT-31",
      at: place)
    try require(
      certificate.keyUsage?.has(Certificate.KeyUsage.keyCertSign) != true,
      .rejectedChainKeyUsage, "ATT-31", at: place)
    try require(
      certificate.keyUsage?.has(Certificate.KeyUsage.cRLSign) != true, .rejectedChainKeyUsage,
      "ATT-31", at: place)
    try require(
      allowsAttestation(certificate), .rejectedChainExtendedKeyUsage, "ATT-33", at: place)
    try require(
      certificate.extension(ObjectIdentifier.attestNonce) != nil, .rejectedChainLeafMarker,
      "ATT-31", at: place)
  }

  static func checkIntermediate(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try require(
      certificate.signatureAlgorithm == .ecdsa(.sha384), .rejectedChainSignatureAlgorithm, "ATT-30",
      at: place)
    try require(certificate.keyType == .elliptic(.p384), .rejectedChainKey, "ATT-30", at: place)
    try CertificateRules.checkExtensions(certificate, "ATT-34", at: place)
    try require(isAuthority(certificate), .rejectedChainNotCa, "ATT-30", at: place)
    try require(
      certificate.keyUsage?.has(Certificate.KeyUsage.keyCertSign) == true,
      .rejectedChainKeyUsage, "ATT-30", at: place)
  }

  // MARK: parts

  private static func checkForm(_ certificate: Certificate, at place: String) throws(Refusal) {
    try require(certificate.version == 3, .rejectedChainVersion, "ATT-34", at: place)
    try require(
      CertificateRules.hasGoodSerial(certificate), .rejectedChainSerial, "ATT-34", at: place)
  }

  /// Extensions that a leaf may have critical: each is judged or read here.
  private static let known: [[UInt8]] = [
    ObjectIdentifier.extendedKeyUsage, ObjectIdentifier.attestNonce,
    ObjectIdentifier.attestAppFacts, ObjectIdentifier.attestAccessControl,
    ObjectIdentifier.attestSystemFacts,
  ]

  /// ATT-33: no extended key usage, or the private one of App Attest among them.
  private static func allowsAttestation(_ certificate: Certificate) -> Bool {
    guard let usage = certificate.extension(ObjectIdentifier.extendedKeyUsage) else {
      return true
    }
    var outer = DER.Cursor(certificate.der, usage.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else { return false }
    var purposes = DER.Cursor(certificate.der, list.content)
    var isFound = false
    while !purposes.isAtEnd {
      guard let purpose = purposes.next(DER.objectIdentifier) else { return false }
      isFound =
        isFound
        || certificate.bytes(purpose.content).elementsEqual(ObjectIdentifier.attestKeyUsage)
    }
    return isFound
  }

  /// ATT-30: critical, CA:TRUE, path length 0 or none. DER has one spelling for
  /// each.
  private static func isAuthority(_ certificate: Certificate) -> Bool {
    guard let entry = certificate.extension(ObjectIdentifier.basicConstraints),
      entry.isCritical
    else { return false }
    let value = certificate.bytes(entry.value)
    return value.elementsEqual([0x30, 0x03, 0x01, 0x01, 0xff])
      || value.elementsEqual([0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00])
  }
}

extension ObjectIdentifier {
  /// 2.5.29.37
  static let extendedKeyUsage: [UInt8] = [0x55, 0x1d, 0x25]
  /// 1.2.840.113635.100.4.24: the key usage of attested keys.
  static let attestKeyUsage: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x04, 0x18]
  /// 1.2.840.113635.100.8.2: the nonce.
  static let attestNonce: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x08, 0x02]
  /// 1.2.840.113635.100.8.5: app and key.
  static let attestAppFacts: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x08, 0x05]
  /// 1.2.840.113635.100.8.6: access control.
  static let attestAccessControl: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x08, 0x06,
  ]
  /// 1.2.840.113635.100.8.7: operating system.
  static let attestSystemFacts: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x08, 0x07,
  ]
}
