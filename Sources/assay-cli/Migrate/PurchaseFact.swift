@_spi(AssayMigrate) import Assay

/// What one text says about one purchase, and what its row adds.
struct PurchaseFact {
  let group: String
  let purchaseKey: String
  let transactionId: String
  let originalTransactionId: String
  let environment: String
  let productId: String
  let kind: StatedPurchase.Kind
  let plan: String
  let units: Int64
  let purchasedAtMs: Int64
  let expiresAtMs: Int64?
  let asOfMs: Int64
  let revokedAtMs: Int64?
  let revocationReason: Int64?
  let revokedShare: Int64
  let tellsRevocation: Bool
  let isUpgraded: Bool
  /// Whether the policy, or ids that cannot be keys, leave the purchase out.
  let isExcluded: Bool
  let sha256: String
  /// Empty if the row names none.
  let account: String
  let isGranted: Bool
  let receivedAtMs: Int64?
  let place: EvidencePlace

  init(
    _ stated: StatedPurchase, account: String, isGranted: Bool, receivedAtMs: Int64?,
    _ place: EvidencePlace
  ) {
    group = stated.keys?.subscription ?? "-/" + stated.sha256
    purchaseKey = stated.keys?.purchase ?? "-/" + stated.sha256 + "/" + stated.transactionId
    transactionId = stated.transactionId
    originalTransactionId = stated.originalTransactionId
    environment = stated.environment
    productId = stated.productId
    kind = stated.kind
    plan = stated.plan
    units = stated.units
    purchasedAtMs = stated.purchasedAtMs
    expiresAtMs = stated.expiresAtMs
    asOfMs = stated.asOfMs
    revokedAtMs = stated.revokedAtMs
    revocationReason = stated.revocationReason
    revokedShare = stated.revokedShare
    tellsRevocation = stated.tellsRevocation
    isUpgraded = stated.isUpgraded
    isExcluded = stated.isDenied || stated.keys == nil
    sha256 = stated.sha256
    self.account = account
    self.isGranted = isGranted
    self.receivedAtMs = receivedAtMs
    self.place = place
  }

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let tellsRevocation = Flags(rawValue: 1)
    static let isUpgraded = Flags(rawValue: 2)
    static let isExcluded = Flags(rawValue: 4)
    static let isGranted = Flags(rawValue: 8)
  }

  var record: [UInt8] {
    var record = RecordBytes(key: group)
    record.put(1 as UInt8)
    for text in [purchaseKey, transactionId, originalTransactionId, environment, productId, plan] {
      record.put(text)
    }
    record.put(kind.rawValue)
    for number in [units, purchasedAtMs, asOfMs, revokedShare] { record.put(number) }
    for number in [expiresAtMs, revokedAtMs, revocationReason, receivedAtMs] { record.put(number) }
    var flags: Flags = []
    if tellsRevocation { flags.insert(.tellsRevocation) }
    if isUpgraded { flags.insert(.isUpgraded) }
    if isExcluded { flags.insert(.isExcluded) }
    if isGranted { flags.insert(.isGranted) }
    record.put(flags.rawValue)
    record.put(sha256)
    record.put(account)
    place.put(in: &record)
    return record.bytes
  }

  init(_ group: String, _ cursor: inout RecordCursor) {
    self.group = group
    purchaseKey = cursor.text()
    transactionId = cursor.text()
    originalTransactionId = cursor.text()
    environment = cursor.text()
    productId = cursor.text()
    plan = cursor.text()
    kind = StatedPurchase.Kind(rawValue: cursor.byte()) ?? .unknown
    units = cursor.number()
    purchasedAtMs = cursor.number()
    asOfMs = cursor.number()
    revokedShare = cursor.number()
    expiresAtMs = cursor.numberIfAny()
    revokedAtMs = cursor.numberIfAny()
    revocationReason = cursor.numberIfAny()
    receivedAtMs = cursor.numberIfAny()
    let flags = Flags(rawValue: cursor.byte())
    tellsRevocation = flags.contains(.tellsRevocation)
    isUpgraded = flags.contains(.isUpgraded)
    isExcluded = flags.contains(.isExcluded)
    isGranted = flags.contains(.isGranted)
    sha256 = cursor.text()
    account = cursor.text()
    place = EvidencePlace(&cursor)
  }

  /// Whether this says more than `other` about the same purchase: the later one, at the same time
  /// the one that grants less, otherwise a fixed one (DCD-3).
  func isNewer(than other: PurchaseFact) -> Bool {
    if asOfMs != other.asOfMs { return asOfMs > other.asOfMs }
    let (isRevoked, otherIs) = (revokedAtMs != nil, other.revokedAtMs != nil)
    if isRevoked != otherIs { return isRevoked }
    if isUpgraded != other.isUpgraded { return isUpgraded }
    return (sha256, place.row) < (other.sha256, other.place.row)
  }
}
