/// What the host keeps for an issuer between two conversations (KST-13).
struct KeysetState {
  /// When the issuer last gave its keys; nil: never. Milliseconds since 1970 UTC, as the next.
  var fetchedMs: Int64? = nil
  /// When it was last asked; nil: never.
  var triedMs: Int64? = nil
  /// Attempts in vain since it last gave them.
  var failures: Int64 = 0
  /// What the issuer calls that set.
  var etag: Text? = nil

  init() {}

  /// KST-12: times later than now count as now; what is null counts as absent.
  ///
  /// - Throws: `misuse.exchange.request`.
  init(_ given: MemberNode, nowMs: Int64) throws(Refusal) {
    let node = try given.refusing(.misuseExchangeRequest, "KST-12").object([
      "fetchedMs", "triedMs", "failures", "etag",
    ])
    func number(_ name: StaticString) throws(Refusal) -> Int64? {
      try node.present(name)?.integer(0...MemberNode.exactInteger)
    }
    fetchedMs = try number("fetchedMs").map { min($0, nowMs) }
    triedMs = try number("triedMs").map { min($0, nowMs) } ?? fetchedMs
    failures = try number("failures") ?? 0
    etag = try node.present("etag")?.text().usableTag
  }

  /// KST-2: no attempt before this moment; nil: at any time.
  var cooldownEndMs: Int64? {
    triedMs.map { Keyset.cooldownEndMs(triedMs: $0, failures: failures) }
  }

  mutating func succeed(nowMs: Int64, etag: Text?) {
    self = KeysetState()
    (fetchedMs, triedMs) = (nowMs, nowMs)
    self.etag = etag
  }

  mutating func fail(nowMs: Int64) {
    triedMs = nowMs
    failures = min(failures, MemberNode.exactInteger &- 1) &+ 1
  }

  /// `state` is the name of the step.
  func write(_ writer: inout JSONWriter) {
    writer.name("keysetState")
    writer.beginObject()
    writeMembers(&writer)
    writer.endObject()
  }

  func writeMembers(_ writer: inout JSONWriter) {
    writer.member("fetchedMs", integer: fetchedMs)
    writer.member("triedMs", integer: triedMs)
    writer.member("failures", integer: failures)
    writer.member("etag", etag)
  }
}

extension Text {
  /// KST-9: an ETag that can be sent back; anything else is dropped.
  var usableTag: Text? {
    let isUsable = count >= 1 && count <= 256 && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    return isUsable ? self : nil
  }
}
