/// A record of the runs `tokens`: an account, or a group, that an `appAccountToken` names.
enum TokenRecord {
  static func account(_ account: String, of token: String) -> [UInt8] {
    make(token, 0, account)
  }

  static func group(_ group: String, of token: String) -> [UInt8] { make(token, 1, group) }

  private static func make(_ token: String, _ kind: UInt8, _ text: String) -> [UInt8] {
    var record = RecordBytes(key: token)
    record.put(kind)
    record.put(text)
    return record.bytes
  }
}
