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
