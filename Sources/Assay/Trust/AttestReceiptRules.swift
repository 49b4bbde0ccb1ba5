/// What the chain above an App Attest receipt demands of its certificates, apart
/// from names and signatures (FRC-4). Each rule is one small check.
enum AttestReceiptRules {
  static func checkSigner(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try require(
      certificate.basicConstraints?.isAuthority != true, .rejectedChainLeafIsCa, "FRC-4",
      at: place)
    try checkUsage(certificate, Certificate.KeyUsage.digitalSignature, at: place)
    try require(
      certificate.extension(ObjectIdentifier.attestReceiptSigning) != nil,
      .rejectedChainLeafMarker, "FRC-4", at: place)
  }

  static func checkIntermediate(_ certificate: Certificate, at place: String) throws(Refusal) {
    try checkForm(certificate, at: place)
    try require(
      certificate.basicConstraints?.isAuthority == true, .rejectedChainNotCa, "FRC-4", at: place)
    try checkUsage(certificate, Certificate.KeyUsage.keyCertSign, at: place)
    try require(
      certificate.extension(ObjectIdentifier.applicationIntegration) != nil,
      .rejectedChainIntermediateMarker, "FRC-4", at: place)
  }

  // MARK: parts

  private static func checkForm(_ certificate: Certificate, at place: String) throws(Refusal) {
    try require(certificate.version == 3, .rejectedChainVersion, "FRC-4", at: place)
    try require(
      CertificateRules.hasGoodSerial(certificate), .rejectedChainSerial, "FRC-4", at: place)
    try require(
      certificate.signatureAlgorithm == .ecdsa(.sha384)
        || certificate.signatureAlgorithm == .ecdsa(.sha256), .rejectedChainSignatureAlgorithm, "FRC-4", at: place)
    try require(certificate.keyType == .elliptic(.p256), .rejectedChainKey, "FRC-4", at: place)
    try CertificateRules.checkExtensions(certificate, "FRC-4", at: place)
  }

  /// Present, and with that bit: every genuine certificate of this line has it.
  private static func checkUsage(
    _ certificate: Certificate, _ bit: Int, at place: String
  ) throws(Refusal) {
    try require(certificate.keyUsage?.has(bit) == true, .rejectedChainKeyUsage, "FRC-4", at: place)
  }
}

extension ObjectIdentifier {
  /// 1.2.840.113635.100.12.15: signs App Attest receipts.
  static let attestReceiptSigning: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x0c, 0x0f,
  ]
  /// 1.2.840.113635.100.6.2.3: Application Integration intermediate.
  static let applicationIntegration: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x02, 0x03,
  ]
}
