/// The request that begins a conversation: a JSON object with `kind` and the
/// members of that kind (EXC-1).
struct ExchangeRequest {
  let kind: ExchangeKind
  let root: MemberNode

  /// - Throws: `misuse.exchange.request` for a wrong form or an unknown member,
  ///   `misuse.exchange.kind` for a kind that does not exist.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let root: MemberNode
    do throws(Refusal) {
      root = try ExchangeInput.read(bytes, ExchangeInput.request)
    } catch {
      throw ExchangeRequest.clientFault(bytes) ?? error
    }
    let name = try root.required("kind")
    guard let kind = ExchangeKind(try name.text()) else {
      throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
    self.kind = kind
    self.root = try root.object(kind.row.members)
  }

  /// STO-84: JSON with an escaped NUL is refused as a whole; where it stands in a client's text
  /// for a store, that text is what is wrong.
  private static func clientFault(_ bytes: [UInt8]) -> Refusal? {
    let (escape, other) = (Array("\\u0000".utf8), Array("\\u0001".utf8))
    var readable = bytes
    var hasEscape = false
    for place in bytes.indices where bytes[place...].starts(with: escape) {
      readable.replaceSubrange(place..<(place &+ escape.count), with: other)
      hasEscape = true
    }
    guard hasEscape, let root = try? ExchangeInput.read(readable, ExchangeInput.request),
      let kind = root.value.member("kind")?.text, ExchangeKind(kind)?.row.hasAttemptId == true
    else { return nil }
    let names: [StaticString] = [
      "account", "from", "to", "id", "username", "reason", "subject",
    ]
    let faulty = names.first { root.value.member($0)?.text?.hasControlCharacter == true }
    return faulty.map { Refusal(.malformedStoreText, "STO-84", at: Text(stringLiteral: $0).string) }
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

extension ExchangeKind {
  /// To make a row for each is slow.
  private static let named: [(name: StaticString, kind: ExchangeKind)] = allCases.map {
    ($0.row.name, $0)
  }

  var name: StaticString { row.name }

  /// nil: there is no such kind.
  fileprivate init?(_ name: Text) {
    let found = ExchangeKind.named.first { name.utf8[...].elementsEqual($0.name) }
    guard let found else { return nil }
    self = found.kind
  }
}
