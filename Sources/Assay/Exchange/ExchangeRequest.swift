/// The request that begins a conversation: a JSON object with `kind` and the
/// members of that kind (EXC-1).
struct ExchangeRequest {
  let kind: ExchangeKind
  private let root: MemberNode

  /// - Throws: `misuse.exchange.request` for another form or an unknown member,
  ///   `misuse.exchange.kind` for a kind that does not exist.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, ExchangeInput.request)
    let name = try root.required("kind")
    guard let kind = ExchangeKind(try name.text()) else {
      throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
    self.kind = kind
    self.root = try root.object(kind.members)
  }

  /// A member that may be left out.
  subscript(_ name: StaticString) -> MemberNode? { root[name] }

  /// A member that must be there, null or not.
  func required(_ name: StaticString) throws(Refusal) -> MemberNode { try root.required(name) }
}

/// The documents that a conversation is about (EXC-2).
enum ExchangeEvidence {
  /// What they prove, in their order.
  ///
  /// - Throws: `misuse.exchange.evidence` for a document that was refused, was
  ///   made under another configuration, or is of a kind that is not taken.
  static func read(
    _ documents: [Document], configuration: [UInt8], takes: (VerifiedEvidence) -> Bool
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
    return proven
  }
}
