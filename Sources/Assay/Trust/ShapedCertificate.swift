/// A certificate that its profile accepts, and its key. Nobody has looked at who
/// signed it.
struct ShapedCertificate: Sendable {
  let certificate: Certificate
  let key: PublicKey
}
