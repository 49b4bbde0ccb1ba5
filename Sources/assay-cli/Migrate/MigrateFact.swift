@_spi(AssayMigrate) import Assay

/// One statement about a purchase or a subscription, as it is written to the work folder under the
/// key of its group: environment and original transaction id (MIG-31).
enum MigrateFact {
  case purchase(PurchaseFact)
  case renewal(RenewalFact)
  case hearsay(HearsayFact)
  /// An account whose `accountToken` Apple signed for this group (MIG-24).
  case tokenAccount(String)

  init(_ record: [UInt8]) {
    var cursor = RecordCursor(record)
    let key = cursor.key()
    switch cursor.byte() {
    case 1: self = .purchase(PurchaseFact(key, &cursor))
    case 2: self = .renewal(RenewalFact(&cursor))
    case 3: self = .hearsay(HearsayFact(&cursor))
    default: self = .tokenAccount(cursor.text())
    }
  }

  static func tokenAccount(_ account: String, of group: String) -> [UInt8] {
    var record = RecordBytes(key: group)
    record.put(4 as UInt8)
    record.put(account)
    return record.bytes
  }
}

/// A text of evidence in the input, to be verified again when it is written to the ledger: only
/// documents that a verification made enter it.
struct EvidencePlace: Hashable {
  let row: RowPlace
  /// Its index among the texts of the row.
  let index: Int

  func put(in record: inout RecordBytes) {
    row.put(in: &record)
    record.put(Int64(index))
  }

  init(row: RowPlace, index: Int) {
    self.row = row
    self.index = index
  }

  init(_ cursor: inout RecordCursor) {
    row = RowPlace(&cursor)
    index = Int(cursor.number())
  }
}

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

/// What one text says about the renewal of a subscription.
struct RenewalFact {
  let asOfMs: Int64
  let graceExpiresAtMs: Int64?
  let account: String
  let place: EvidencePlace

  init(asOfMs: Int64, graceExpiresAtMs: Int64?, account: String, _ place: EvidencePlace) {
    self.asOfMs = asOfMs
    self.graceExpiresAtMs = graceExpiresAtMs
    self.account = account
    self.place = place
  }

  func record(_ group: String) -> [UInt8] {
    var record = RecordBytes(key: group)
    record.put(2 as UInt8)
    record.put(asOfMs)
    record.put(graceExpiresAtMs)
    record.put(account)
    place.put(in: &record)
    return record.bytes
  }

  init(_ cursor: inout RecordCursor) {
    asOfMs = cursor.number()
    graceExpiresAtMs = cursor.numberIfAny()
    account = cursor.text()
    place = EvidencePlace(&cursor)
  }
}

/// What a row says without a signature (MIG-22).
struct HearsayFact {
  let isOriginal: Bool
  let expiresAtMs: Int64?
  let isRevoked: Bool
  let account: String
  let place: RowPlace

  init(_ hearsay: MigrateRow.Hearsay, account: String, _ place: RowPlace) {
    isOriginal = hearsay.originalTransactionId != nil
    expiresAtMs = hearsay.expiresAtMs
    isRevoked = hearsay.isRevoked
    self.account = account
    self.place = place
  }

  func record(_ group: String) -> [UInt8] {
    var record = RecordBytes(key: group)
    record.put(3 as UInt8)
    record.put(isOriginal ? 1 : 0 as UInt8)
    record.put(expiresAtMs)
    record.put(isRevoked ? 1 : 0 as UInt8)
    record.put(account)
    place.put(in: &record)
    return record.bytes
  }

  init(_ cursor: inout RecordCursor) {
    isOriginal = cursor.byte() != 0
    expiresAtMs = cursor.numberIfAny()
    isRevoked = cursor.byte() != 0
    account = cursor.text()
    place = RowPlace(&cursor)
  }
}
