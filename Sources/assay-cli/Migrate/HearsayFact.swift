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
