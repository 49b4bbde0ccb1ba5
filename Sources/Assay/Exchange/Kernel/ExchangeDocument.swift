/// Writes the documents of one exchange: `{"kind":"exchange", …,
/// "exchange":{"operation":…,"step":…,…}}` (EXC-3).
struct ExchangeDocument {
  /// The name of the operation, as the request has it.
  let operation: StaticString
  /// The digest of the verifier's configuration.
  let configuration: [UInt8]
  let checks: CheckLog
  /// The value of `error.keyset`: what the host should do about an unknown key.
  var keysetAdvice: StaticString? = nil

  init(operation: StaticString, configuration: [UInt8], checks: CheckLog) {
    self.operation = operation
    self.configuration = configuration
    self.checks = checks
  }

  init(operation: StaticString, configuration: [UInt8], progress: ExchangeProgress) {
    self.init(operation: operation, configuration: configuration, checks: progress.checks.log)
  }

  private var envelope: Envelope {
    Envelope(
      kind: "exchange", factsMember: "exchange", checks: checks, configuration: configuration,
      isConfidential: true, keysetAdvice: keysetAdvice)
  }

  // MARK: an open step

  func pending(_ request: HTTPRequest, id: Int64) -> Document {
    // A secret needs its space reserved: a buffer that grows leaves copies behind. The body is
    // JSON, in which each byte may be escaped.
    pending(.pendingExchangeHttp, "http", room: request.room) {
      $0.name("http")
      request.write(id: id, &$0)
    }
  }

  func pending(_ step: DatabaseStep, _ context: LedgerContext, id: Int64) -> Document {
    pending(.pendingExchangeDatabase, "database", room: 640 &* step.calls.count) {
      $0.name("database")
      step.write(id: id, context, &$0)
    }
  }

  func pending(_ grant: GrantStep, id: Int64) -> Document {
    pending(.pendingExchangeGrant, "grant", room: 0) {
      $0.name("grant")
      grant.write(id: id, &$0)
    }
  }

  func pending(_ wait: ExchangeWait, _ terms: ExchangeOptions) -> Document {
    pending(.pendingExchangeWait, "wait", room: 0) {
      $0.member("notBeforeMs", integer: wait.notBeforeMs)
      $0.member("reason", wait.reason.name)
      terms.writeRetry(notBeforeMs: wait.notBeforeMs, wait.reason, &$0)
    }
  }

  private func pending(
    _ status: Status, _ step: StaticString, room: Int,
    _ members: (inout JSONWriter) -> Void
  ) -> Document {
    envelope.refused(
      Refusal(status, "EXC-3"), check: "exchange", capacity: 2048 &+ room,
      facts: { write(step, members, &$0) })
  }

  // MARK: the end

  /// Returns the final document of success. `result` writes the members after `operation` and
  /// `step`;
  /// `room` is the number of bytes of secrets among them.
  func done(
    _ evidence: VerifiedEvidence? = nil, room: Int = 0,
    warnings: (inout JSONWriter) -> Void = { _ in }, _ result: (inout JSONWriter) -> Void
  ) -> Document {
    envelope.accepted(evidence, warnings: warnings, capacity: 1024 &+ room) {
      write("done", result, &$0)
    }
  }

  /// Returns the final document of a refusal, with the members that are known all the same
  /// (DOC-1).
  func refused(
    _ refusal: Refusal, _ result: (inout JSONWriter) -> Void = { _ in },
    warnings: (inout JSONWriter) -> Void = { _ in }
  ) -> Document {
    envelope.refused(refusal, warnings: warnings, facts: { write("done", result, &$0) })
  }

  /// Returns the document of a call that changed nothing.
  func misused(_ refusal: Refusal) -> Document { envelope.refused(refusal) }

  private func write(
    _ step: StaticString, _ members: (inout JSONWriter) -> Void, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("operation", operation)
    writer.member("step", step)
    members(&writer)
    writer.endObject()
  }
}
