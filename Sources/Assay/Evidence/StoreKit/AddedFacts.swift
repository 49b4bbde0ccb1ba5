/// What conversations have shown about a verified JWS beyond what it says itself
/// (EXC-12).
struct AddedFacts: Sendable {
  /// JWS-93: it was made for the device that was named.
  var isDeviceVerified = false
  /// OCSP-22: of its leaf and its intermediate.
  var revocation: (leaf: CertificateRevocation, intermediate: CertificateRevocation)? = nil

  /// `deviceVerified` and `revocation`; what was not shown is left out.
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
