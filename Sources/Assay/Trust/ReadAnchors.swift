/// Roots of configurations, read and found to have signed themselves, found again by
/// their bytes: reading them again for each verifier of a process costs as much as a
/// chain (CER-11). A pure function of the certificate; being here confers no trust.
enum ReadAnchors {
  /// Of each kind. A configuration has at most `AnchorSet.cap` of one.
  private static let capacity = 32
  /// A longer certificate is read every time. No root has as many octets.
  private static let byteCap = 4096

  private static let elliptic = BytesCache<Anchor>(capacity: capacity)
  private static let rsa = BytesCache<Anchor>(capacity: capacity)

  /// - Parameter isRemembered: false with `cache.chains` 0: then nothing is looked
  ///   up or kept.
  static func find(_ der: [UInt8], _ keys: Anchor.Keys, isRemembered: Bool) -> Anchor? {
    guard isRemembered, der.count <= byteCap else { return Anchor(der, keys) }
    let known = keys == .rsa ? rsa : elliptic
    if let anchor = known.find(der[...]) { return anchor }
    let anchor = Anchor(der, keys)
    if let anchor { known.remember(der[...], anchor) }
    return anchor
  }
}
