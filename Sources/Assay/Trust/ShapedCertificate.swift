/// A certificate that its profile accepts, and its key. Who signed it has
/// not been checked.
struct ShapedCertificate: Sendable {
  let certificate: Certificate
  let key: PublicKey
}
