/// A certificate that conforms to its profile, and its key. No signature has been verified.
struct ProfiledCertificate: Sendable {
  let certificate: Certificate
  let key: PublicKey
}
