/// A record of the runs `texts`: a text that was verified, or refused.
enum TextRecord {
  static func make(_ digest: [UInt8], kind: String) -> [UInt8] { make(digest, 1, kind) }

  static func make(_ digest: [UInt8], status: String) -> [UInt8] { make(digest, 0, status) }

  private static func make(_ digest: [UInt8], _ isVerified: UInt8, _ name: String) -> [UInt8] {
    var record = RecordBytes(key: ReadWorker.hex(digest))
    record.put(isVerified)
    record.put(name)
    return record.bytes
  }
}
