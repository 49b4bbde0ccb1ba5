/// A verified attest receipt: Apple's statement about an attested key (docs/spec/app-attest.md
/// §7). Created only by a verification.
final class AttestReceipt: Sendable {
  /// How long Apple keeps the data behind a receipt: 30 days in milliseconds (RFR-1).
  private static let keptMs: Int64 = 30 * 86_400_000

  /// The receipt as Apple signed it, in BER: the bytes to store, and to send for a refresh.
  let bytes: [UInt8]
  let fields: AttestReceiptFields
  let appId: Text
  let isProduction: Bool
  /// The SHA-256 of the attested public key, 32 bytes.
  let keyId: [UInt8]
  /// Whether the key was compared with one known from another source (FRC-9).
  let bound: Bool
  /// Whether the receipt has expired, which only a stored receipt may have (FRC-11).
  let isExpired: Bool
  /// When the receipt should be refreshed, in milliseconds since 1970 UTC; `nil` if it is too
  /// late for a refresh (RFR-3).
  let refreshAtMs: Int64?
  let refreshDue: Bool
  private let signer: [UInt8]

  init(
    _ bytes: [UInt8], _ fields: AttestReceiptFields, isProduction: Bool, bound: Bool,
    signer: ProvenChain, refreshEveryMs: Int64, nowMs: Int64
  ) {
    self.bytes = bytes
    self.fields = fields
    self.isProduction = isProduction
    self.bound = bound
    self.signer = signer.leafReport
    appId = fields.text(fields.appId)
    keyId = Digest.sha256.of(fields.key)
    isExpired = nowMs > fields.expiresAtMs
    refreshAtMs = AttestReceipt.refreshTime(fields, refreshEveryMs, nowMs)
    refreshDue = refreshAtMs.map { !fields.isRefreshed || nowMs >= $0 } ?? false
  }

  /// "ATTEST" or "RECEIPT".
  var type: StaticString { fields.isRefreshed ? "RECEIPT" : "ATTEST" }
  var createdAtMs: Int64 { fields.createdAtMs }
  var notBeforeMs: Int64? { fields.notBeforeMs }
  var expiresAtMs: Int64 { fields.expiresAtMs }
  var risk: Int64? { fields.risk }
  var token: Text { fields.text(fields.token) }
  /// Field 4, the client data hash of the attestation (FRC-6). Never compared with anything,
  /// because Apple damages the hash when it refreshes a receipt.
  var clientHash: ArraySlice<UInt8> { fields.slice(fields.clientHash) }

  /// Returns when to refresh a receipt: an ATTEST receipt at once; a refreshed one after its
  /// field 19 and the configured interval, but at the latest a day before Apple deletes its data
  /// (RFR-1, RFR-3). If field 19 itself is later than the deletion, field 19 decides. All times
  /// are within 2008 … 2100 and intervals below 2^53, so that no sum overflows.
  private static func refreshTime(
    _ fields: AttestReceiptFields, _ everyMs: Int64, _ nowMs: Int64
  ) -> Int64? {
    let forgotten = fields.createdAtMs &+ keptMs
    let isLate = (fields.notBeforeMs ?? 0) >= forgotten
    let end = isLate ? fields.expiresAtMs : Swift.min(forgotten, fields.expiresAtMs)
    guard nowMs < end else { return nil }
    guard let notBefore = fields.notBeforeMs else { return fields.createdAtMs }
    let latest = fields.createdAtMs &+ keptMs &- 86_400_000
    let due = Swift.max(notBefore, Swift.min(fields.createdAtMs &+ everyMs, latest))
    return due < end ? due : nil
  }

  /// Returns when to try again after a refresh that failed at `nowMs`: the interval counts from
  /// there (RFR-3).
  ///
  /// - Parameter everyMs: the interval in milliseconds, below 2^53.
  func refreshTime(afterFailureAt nowMs: Int64, everyMs: Int64) -> Int64? {
    let forgotten = createdAtMs &+ AttestReceipt.keptMs
    let isLate = (notBeforeMs ?? 0) >= forgotten
    let due = Swift.max(notBeforeMs ?? 0, nowMs &+ everyMs)
    return due < (isLate ? expiresAtMs : Swift.min(forgotten, expiresAtMs)) ? due : nil
  }

  /// Writes the value of the member `attestReceipt`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(&writer)
    writer.endObject()
  }

  /// Writes the members of `attestReceipt` without braces, for a document that adds members.
  func writeMembers(_ writer: inout JSONWriter) {
    writer.member("type", type)
    writer.member("appId", appId)
    writer.member("environment", isProduction ? "production" : "sandbox")
    writer.member("keyId", Text(Base64.encodeStandard(keyId)))
    writer.member("bound", boolean: bound)
    writer.member("createdAtMs", integer: createdAtMs)
    writer.member("notBeforeMs", integer: notBeforeMs)
    writer.member("expiresAtMs", integer: expiresAtMs)
    writer.member("expired", boolean: isExpired)
    writer.member("risk", integer: risk)
    writer.member("refreshAtMs", integer: refreshAtMs)
    writer.member("refreshDue", boolean: refreshDue)
    writer.member("token", token)
    writer.member("clientHash", hex: Array(clientHash))
    writer.name("signer")
    writer.raw(signer)
    writer.name("unknownFields")
    writer.beginArray()
    for type in fields.unknown {
      if let number = Int64(exactly: type) {
        writer.integer(number)
      } else {
        writer.string(Text(decimal: type))
      }
    }
    writer.endArray()
  }
}
