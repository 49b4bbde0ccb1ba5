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
