/// Facts about a verified JWS that exchanges added to those it contains (EXC-12).
struct ExchangeFacts: Sendable {
  /// Whether the JWS was made on the device that the host named (JWS-93).
  var isDeviceVerified = false
  /// The certificate revocation state of leaf and intermediate; `nil` if no exchange checked it
  /// (OCSP-22).
  var revocation: (leaf: CertificateRevocation, intermediate: CertificateRevocation)? = nil

  /// Writes `deviceVerified` and `revocation`, each only if known.
  func write(_ writer: inout JSONWriter) {
    if isDeviceVerified { writer.member("deviceVerified", boolean: true) }
    guard let revocation else { return }
    writer.name("revocation")
    writer.beginObject()
    writer.name("leaf")
    revocation.leaf.write(&writer)
    writer.name("intermediate")
    revocation.intermediate.write(&writer)
    writer.endObject()
  }
}
