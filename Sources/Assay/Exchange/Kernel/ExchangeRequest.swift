/// The request that begins a conversation: a JSON object with `kind` and the
/// members of that kind (EXC-1).
struct ExchangeRequest {
  let kind: ExchangeKind
  private let root: ExchangeInput.Node

  /// - Throws: `misuse.exchange.request` for another form or an unknown member,
  ///   `misuse.exchange.kind` for a kind that does not exist.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, .misuseExchangeRequest, "EXC-1")
    guard let name = root["kind"]?.value.text else {
      throw Refusal(.misuseExchangeRequest, "EXC-1", at: "kind")
    }
    guard let kind = ExchangeKind(name) else {
      throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
    self.kind = kind
    self.root = try ExchangeInput.members(.misuseExchangeRequest, "EXC-1") {
      () throws(Refusal) in try root.object(kind.row.members)
    }
  }

  /// A member that may be left out.
  subscript(_ name: StaticString) -> ExchangeInput.Node? { root[name] }

  /// A member that must be there, null or not.
  func required(_ name: StaticString) throws(Refusal) -> ExchangeInput.Node {
    guard let node = root[name] else {
      throw Refusal(.misuseExchangeRequest, "EXC-1", at: Text(stringLiteral: name).string)
    }
    return node
  }

  /// The request as it was given, without some of its members and with another
  /// `attempt` (EXC-18). A copy: the text itself is wiped when the call returns.
  func json(without names: [StaticString], attempt: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for member in root.value.children where !names.contains(where: { member.isNamed($0) }) {
      writer.name(member.name)
      writer.raw(member.kind == .string ? member.quotedSource : member.source)
    }
    writer.member("attempt", integer: attempt)
    writer.endObject()
    return writer.bytes
  }
}

/// The documents that a conversation is about (EXC-2).
enum ExchangeEvidence {
  /// What they prove, in their order.
  ///
  /// - Throws: `misuse.exchange.evidence` for a document that was refused, was
  ///   made under another configuration, or is of a kind that is not taken; for
  ///   too many of them.
  static func read(
    _ documents: [Document], configuration: [UInt8], cap: Int,
    takes: (VerifiedEvidence) -> Bool
  ) throws(Refusal) -> [VerifiedEvidence] {
    var proven: [VerifiedEvidence] = []
    for (index, document) in documents.enumerated() {
      guard document.status == .ok, document.configuration == configuration,
        let evidence = document.evidence, takes(evidence)
      else {
        throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[" + String(index) + "]")
      }
      proven.append(evidence)
    }
    try require(proven.count <= cap, .misuseExchangeEvidence, "EXC-2", at: "evidence")
    return proven
  }
}
