import CLibCrypto

/// A leaf with every intermediate that was proven to have signed it (PTH-13). A
/// pure function of certificates and anchors, so it never grows old; dates are
/// judged for every receipt anew.
final class LeafRecord: Sendable {
  let leaf: Certificate
  let key: RSAPublicKey
  let signer: ReceiptSigner
  let intermediates: [ReceiptIntermediate]
  /// The member `leaf` of a document's `chain`.
  let report: [UInt8]

  init(
    _ leaf: Certificate, _ key: RSAPublicKey, _ signer: ReceiptSigner,
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

  /// Compared in full: an index alone proves nothing.
  func isOf(_ other: [UInt8]) -> Bool {
    guard other.count == leaf.der.count else { return false }
    return unsafe leaf.der.withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let other = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, other, theirs.count) == 0
      }
    }
  }

  /// Whether every certificate of the bag is the leaf, a root, or an
  /// intermediate that is known here: nothing in it needs to be looked at.
  func covers(_ bag: [[UInt8]], _ anchors: [ReceiptAnchor]) -> Bool {
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
/// proven; a busy lock is a miss, never a wait.
@safe final class PathCache: @unchecked Sendable {
  private final class Level {
    var records = RecentlyUsed<UInt64, LeafRecord>()
  }

  private let capacity: Int
  private let lock = TryLock()
  private var level = unsafe Unmanaged.passRetained(Level())

  /// 0 switches the cache off.
  init(capacity: Int) { self.capacity = capacity }

  deinit { unsafe level.release() }

  func record(_ leaf: [UInt8], _ signer: ReceiptSigner) -> LeafRecord? {
    guard capacity > 0 else { return nil }
    let index = HeaderHash.of(leaf[...])
    guard let record = withLevel({ $0.records.find(index) }) ?? nil,
      (record.signer == .transactionV2) == (signer == .transactionV2), record.isOf(leaf)
    else { return nil }
    return record
  }

  func remember(_ record: LeafRecord) {
    guard capacity > 0 else { return }
    let index = HeaderHash.of(record.leaf.der[...])
    _ = withLevel { $0.records.insert(index, record, self.capacity) }
  }

  private func withLevel<Result>(_ body: (Level) -> Result) -> Result? {
    switch lock.take() {
    case .busy: return nil
    case .taken: break
    case .abandoned:
      // As in ChainCache: what the parent's thread was changing is left alone.
      unsafe level = Unmanaged.passRetained(Level())
    }
    defer { lock.release() }
    return unsafe body(level.takeUnretainedValue())
  }
}
