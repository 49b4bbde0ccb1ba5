/// A leaf with every intermediate that was proven to have signed it (PTH-13). A
/// pure function of certificates and anchors, so it never grows old; dates are
/// judged for every receipt anew.
final class LeafRecord: Sendable {
  let leaf: Certificate
  let key: PublicKey
  let signer: ReceiptSigner
  let intermediates: [ReceiptIntermediate]
  /// The member `leaf` of a document's `chain`.
  let report: [UInt8]

  init(
    _ leaf: Certificate, _ key: PublicKey, _ signer: ReceiptSigner,
    _ intermediates: [ReceiptIntermediate]
  ) {
    self.leaf = leaf
    self.key = key
    self.signer = signer
    self.intermediates = intermediates
    var writer = JSONWriter(capacity: 200)
    writer.name("leaf")
    leaf.writeReport(&writer)
    report = writer.bytes
  }

  /// Whether every certificate of the bag is the leaf, a root, or an
  /// intermediate that is known here: nothing in it needs to be looked at.
  func covers(_ bag: [[UInt8]], _ anchors: [Anchor]) -> Bool {
    let hasIntermediate = intermediates.contains { intermediate in
      intermediate.source != .embedded || bag.contains(intermediate.certificate.der)
    }
    return hasIntermediate
      && bag.allSatisfy { der in
        der == leaf.der || intermediates.contains { $0.certificate.der == der }
          || anchors.contains { $0.certificate.der == der }
      }
  }
}

/// Leaves of receipts, found again by their bytes. Nothing enters that was not
/// proven.
final class PathCache: Sendable {
  private let records: BytesCache<LeafRecord>

  /// 0 switches the cache off.
  init(capacity: Int) { records = BytesCache(capacity: capacity) }

  func record(_ leaf: [UInt8], _ signer: ReceiptSigner) -> LeafRecord? {
    guard let record = records.find(leaf[...]),
      (record.signer == .transactionV2) == (signer == .transactionV2)
    else { return nil }
    return record
  }

  func remember(_ record: LeafRecord) { records.remember(record.leaf.der[...], record) }
}
