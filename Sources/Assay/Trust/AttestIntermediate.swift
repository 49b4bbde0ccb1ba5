/// An intermediate of attestations that was proven under a pinned root, apart
/// from the dates of both, which are judged at each use (ATT-36).
final class AttestIntermediate: Sendable {
  let certificate: Certificate
  let key: PublicKey
  let anchor: Anchor

  init(_ certificate: Certificate, _ key: PublicKey, _ anchor: Anchor) {
    self.certificate = certificate
    self.key = key
    self.anchor = anchor
  }
}
