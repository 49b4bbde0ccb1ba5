/// A pinned root of receipts: RSA, as Apple Root CA is. Trust comes from its
/// bytes, never from its name (CER-1).
struct ReceiptAnchor: Sendable {
  let certificate: Certificate
  let key: RSAPublicKey

  /// CFG-3: one clean certificate of version 3, a certificate authority that
  /// signed itself with an RSA key of 2,048 to 4,096 bits, and with SHA-1 or any
  /// SHA-2 (CER-11); nil for everything else.
  init?(_ der: [UInt8]) {
    guard let certificate = Certificate(der), certificate.version == 3,
      certificate.basicConstraints?.isAuthority == true,
      certificate.bytes(certificate.issuer) == certificate.bytes(certificate.subject),
      let key = RSAPublicKey.make(certificate), key.modulusBits >= 2048,
      RSAPublicKey.hasSignedItself(certificate)
    else { return nil }
    self.certificate = certificate
    self.key = key
  }
}
