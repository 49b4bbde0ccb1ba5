/// The state that all receipt verifications of one verifier share. Immutable apart from the
/// cache.
final class ReceiptTrust: Sendable {
  let configuration: Configuration
  let roots: ReceiptRoots

  private init(_ configuration: Configuration, _ roots: ReceiptRoots) {
    self.configuration = configuration
    self.roots = roots
  }

  /// - Throws: `internal.certificates.table`, `config.certificates.intermediate` (CER-6).
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> ReceiptTrust {
    let policy = configuration.receipts
    let anchors = AnchorSet(.receipts, policy.anchors)
    return ReceiptTrust(
      configuration, try ReceiptRoots(anchors, policy.intermediates, proofs.receipts))
  }

  /// Whether `der` is a pinned certificate of Xcode and the verifier accepts that environment
  /// (APR-21).
  func accepts(xcode der: [UInt8]) -> Bool {
    configuration.environments.contains(.xcode)
      && configuration.storekit.xcodeCertificates.contains(Digest.sha256.of(der))
  }
}
