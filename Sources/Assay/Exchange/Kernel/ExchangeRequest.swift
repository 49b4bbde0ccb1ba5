/// The request that begins a conversation: a JSON object with `kind` and the
/// members of that kind (EXC-1).
struct ExchangeRequest {
  let kind: ExchangeKind
  let root: MemberNode

  /// - Throws: `misuse.exchange.request` for a wrong form or an unknown member,
  ///   `misuse.exchange.kind` for a kind that does not exist.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, ExchangeInput.request)
    let name = try root.required("kind")
    guard let kind = ExchangeKind(try name.text()) else {
      throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
    self.kind = kind
    self.root = try root.object(kind.row.members)
  }

  /// A member that may be left out.
  subscript(_ name: StaticString) -> MemberNode? { root[name] }

  /// A member that must be there, null or not.
  func required(_ name: StaticString) throws(Refusal) -> MemberNode { try root.required(name) }

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
