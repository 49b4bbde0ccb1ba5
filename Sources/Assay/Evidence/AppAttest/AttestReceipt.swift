/// A verified App Attest receipt: Apple's statement about an attested key (app-
/// attest.md §7). Only a verification makes one.
final class AttestReceipt: Sendable {
  /// How long Apple keeps the data for a receipt (RFR-1).
  private static let keptMs: Int64 = 30 * 86_400_000

  /// As it was signed: BER, to be stored and sent when it is refreshed.
  let bytes: [UInt8]
  let fields: AttestReceiptFields
  let appId: Text
  let isProduction: Bool
  /// SHA-256 of the key, 32 octets.
  let keyId: [UInt8]
  /// Whether the key was compared with one known from elsewhere (FRC-9).
  let bound: Bool
  /// FRC-11: past its expiry, which only a stored receipt may be.
  let isExpired: Bool
  /// RFR-3: when a refresh is due, in milliseconds since 1970 UTC; nil: it is too
  /// late for one.
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
    isExpired = nowMs > fields.expiresMs
    refreshAtMs = AttestReceipt.refreshTime(fields, refreshEveryMs, nowMs)
    refreshDue = refreshAtMs.map { !fields.isRefreshed || nowMs >= $0 } ?? false
  }

  /// "ATTEST" or "RECEIPT".
  var type: StaticString { fields.isRefreshed ? "RECEIPT" : "ATTEST" }
  var createdMs: Int64 { fields.createdMs }
  var notBeforeMs: Int64? { fields.notBeforeMs }
  var expiresMs: Int64 { fields.expiresMs }
  var risk: Int64? { fields.risk }
  var token: Text { fields.text(fields.token) }
  /// FRC-6: field 4, the client data hash of the attestation. Apple damages it
  /// when it refreshes a receipt, so that nothing is compared with it.
  var clientHash: ArraySlice<UInt8> { fields.slice(fields.clientHash) }

  /// RFR-1, RFR-3: an ATTEST receipt at once; a refreshed one after its field 19
  /// and the configured time, but a day before Apple forgets it at the latest.
  /// Where field 19 itself lies after that, Apple's word is followed.
  /// All times lie in 2008 … 2100 and intervals below 2^53: no sum overflows.
  private static func refreshTime(
    _ fields: AttestReceiptFields, _ everyMs: Int64, _ nowMs: Int64
  ) -> Int64? {
    let forgotten = fields.createdMs &+ keptMs
    let isLate = (fields.notBeforeMs ?? 0) >= forgotten
    let end = isLate ? fields.expiresMs : Swift.min(forgotten, fields.expiresMs)
    guard nowMs < end else { return nil }
    guard let notBefore = fields.notBeforeMs else { return fields.createdMs }
    let latest = fields.createdMs &+ keptMs &- 86_400_000
    let due = Swift.max(notBefore, Swift.min(fields.createdMs &+ everyMs, latest))
    return due < end ? due : nil
  }

  /// RFR-3, after a refresh that failed: the same schedule, counted from then.
  ///
  /// - Parameter everyMs: below 2^53, as above.
  func refreshTime(afterFailureAt nowMs: Int64, everyMs: Int64) -> Int64? {
    let forgotten = createdMs &+ AttestReceipt.keptMs
    let isLate = (notBeforeMs ?? 0) >= forgotten
    let due = Swift.max(notBeforeMs ?? 0, nowMs &+ everyMs)
    return due < (isLate ? expiresMs : Swift.min(forgotten, expiresMs)) ? due : nil
  }

  /// The value of `attestReceipt`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(&writer)
    writer.endObject()
  }

  /// Its members, for a document that adds some.
  func writeMembers(_ writer: inout JSONWriter) {
    writer.member("type", type)
    writer.member("appId", appId)
    writer.member("environment", isProduction ? "production" : "sandbox")
    writer.member("keyId", Text(Base64.encodeStandard(keyId)))
    writer.member("bound", boolean: bound)
    writer.member("createdMs", integer: createdMs)
    writer.member("notBeforeMs", integer: notBeforeMs)
    writer.member("expiresMs", integer: expiresMs)
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
