/// The documents of one conversation: `{"kind":"exchange", …,
/// "exchange":{"kind":…,"state":…,…}}` (EXC-3).
struct ExchangeDocument {
  /// Of the conversation, as the request names it.
  let kind: StaticString
  /// The fingerprint of the verifier's configuration.
  let configuration: [UInt8]
  var checks = Ledger.empty

  private var envelope: Envelope {
    Envelope(
      kind: "exchange", factsMember: "exchange", checks: checks, configuration: configuration,
      isConfidential: true)
  }

  /// An open step.
  func pending(_ step: ExchangeStep) -> Document {
    envelope.refused(
      Refusal(step.status, "EXC-3"), check: "exchange",
      facts: { write(step.state, step.write, &$0) })
  }

  /// The end, with status 0. `result` writes the members behind `kind` and `state`;
  /// a secret among them needs the room, for what grows leaves copies behind.
  func done(room: Int = 0, _ result: (inout JSONWriter) -> Void) -> Document {
    envelope.accepted(nil, capacity: 1024 &+ room) { write("done", result, &$0) }
  }

  /// The end, refused. What was found out stands in the document all the same
  /// (DOC-1).
  func refused(_ refusal: Refusal, _ result: (inout JSONWriter) -> Void = { _ in }) -> Document {
    envelope.refused(refusal, facts: { write("done", result, &$0) })
  }

  /// A call that changed nothing.
  func misused(_ refusal: Refusal) -> Document { envelope.refused(refusal) }

  private func write(
    _ state: StaticString, _ members: (inout JSONWriter) -> Void, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("kind", kind)
    writer.member("state", state)
    members(&writer)
    writer.endObject()
  }
}
