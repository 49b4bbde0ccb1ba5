/// Roots of configurations, read and found to have signed themselves, found again by
/// their bytes: for each verifier of a process anew that costs as much as a chain
/// (CER-11). A pure function of the certificate; it trusts nobody.
enum ReadAnchors {
  /// Of each kind. A configuration has at most `AnchorSet.cap` of one.
  private static let capacity = 32
  /// A longer certificate is read every time. No root has as many octets.
  private static let byteCap = 4096

  private static let elliptic = BytesCache<Anchor>(capacity: capacity)
  private static let rsa = BytesCache<ReceiptAnchor>(capacity: capacity)

  /// - Parameter isRemembered: false under `cache.chains` 0: then nothing is looked
  ///   up and nothing kept.
  static func elliptic(_ der: [UInt8], isRemembered: Bool) -> Anchor? {
    found(der, isRemembered, elliptic) { Anchor(der) }
  }

  static func rsa(_ der: [UInt8], isRemembered: Bool) -> ReceiptAnchor? {
    found(der, isRemembered, rsa) { ReceiptAnchor(der) }
  }

  private static func found<Root: Sendable>(
    _ der: [UInt8], _ isRemembered: Bool, _ known: BytesCache<Root>, _ read: () -> Root?
  ) -> Root? {
    guard isRemembered, der.count <= byteCap else { return read() }
    if let root = known.find(der[...]) { return root }
    let root = read()
    if let root { known.remember(der[...], root) }
    return root
  }
}
