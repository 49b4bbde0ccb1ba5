/// The state that the host stores for an issuer between two exchanges (KST-13).
struct KeysetState {
  /// The time of the issuer's last successful response, in milliseconds since 1970 UTC; `nil` if
  /// there was none.
  var fetchedAtMs: Int64? = nil
  /// The time of the last attempt, in milliseconds since 1970 UTC; `nil` if there was none.
  var triedAtMs: Int64? = nil
  /// The number of failed attempts since the last successful one.
  var failures: Int64 = 0
  /// The ETag of the key set.
  var etag: Text? = nil

  init() {}

  /// Reads the host's state. A time in the future counts as now, null as absent (KST-12).
  ///
  /// - Throws: `misuse.exchange.request`.
  init(_ given: MemberNode, nowMs: Int64) throws(Refusal) {
    let node = try given.refusing(.misuseExchangeRequest, "KST-12").object([
      "fetchedAtMs", "triedAtMs", "failures", "etag",
    ])
    func number(_ name: StaticString) throws(Refusal) -> Int64? {
      try node.present(name)?.integer(0...MemberNode.exactInteger)
    }
    fetchedAtMs = try number("fetchedAtMs").map { min($0, nowMs) }
    triedAtMs = try number("triedAtMs").map { min($0, nowMs) } ?? fetchedAtMs
    failures = try number("failures") ?? 0
    etag = try node.present("etag")?.text().usableTag
  }

  /// The time before which the issuer is not asked again, in milliseconds since 1970 UTC (KST-2);
  /// `nil` if it may be asked at any time.
  var cooldownEndMs: Int64? {
    triedAtMs.map { Keyset.cooldownEndMs(triedAtMs: $0, failures: failures) }
  }

  mutating func succeed(nowMs: Int64, etag: Text?) {
    self = KeysetState()
    (fetchedAtMs, triedAtMs) = (nowMs, nowMs)
    self.etag = etag
  }

  mutating func fail(nowMs: Int64) {
    triedAtMs = nowMs
    failures = min(failures, MemberNode.exactInteger &- 1) &+ 1
  }

  /// Writes the member `keysetState`; the name `state` is that of the exchange's step.
  func write(_ writer: inout JSONWriter) {
    writer.name("keysetState")
    writer.beginObject()
    writeMembers(&writer)
    writer.endObject()
  }

  func writeMembers(_ writer: inout JSONWriter) {
    writer.member("fetchedAtMs", integer: fetchedAtMs)
    writer.member("triedAtMs", integer: triedAtMs)
    writer.member("failures", integer: failures)
    writer.member("etag", etag)
  }
}

extension Text {
  /// The ETag if it can be sent back: 1 to 256 visible ASCII characters; `nil` otherwise (KST-9).
  var usableTag: Text? {
    let isUsable = count >= 1 && count <= 256 && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    return isUsable ? self : nil
  }
}
