/// The request that begins an exchange: a JSON object with `operation` and the members of that
/// operation (EXC-1).
struct ExchangeRequest {
  let kind: Operation
  let root: MemberNode

  /// - Throws: `misuse.exchange.request` for a wrong form or an unknown member,
  ///   `misuse.exchange.operation` for an operation that does not exist.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let root: MemberNode
    do throws(Refusal) {
      root = try ExchangeInput.read(bytes, ExchangeInput.request)
    } catch {
      throw ExchangeRequest.clientFault(bytes) ?? error
    }
    let name = try root.required("operation")
    guard let kind = Operation(try name.text()) else {
      throw Refusal(.misuseExchangeOperation, "EXC-1", at: "operation")
    }
    self.kind = kind
    self.root = try root.object(kind.row.members)
  }

  /// Returns the refusal for an escaped NUL in a client's text. The JSON reader refuses such a
  /// request as a whole, as the host's misuse; the fault is the client's if the NUL is in a text
  /// that goes to the database (STO-84).
  private static func clientFault(_ bytes: [UInt8]) -> Refusal? {
    let (escape, other) = (Array("\\u0000".utf8), Array("\\u0001".utf8))
    var readable = bytes
    var hasEscape = false
    for place in bytes.indices where bytes[place...].starts(with: escape) {
      readable.replaceSubrange(place..<(place &+ escape.count), with: other)
      hasEscape = true
    }
    guard hasEscape, let root = try? ExchangeInput.read(readable, ExchangeInput.request),
      let kind = root.value.member("operation")?.text, Operation(kind)?.row.hasAttemptId == true
    else { return nil }
    let names: [StaticString] = [
      "account", "from", "to", "id", "username", "reason", "subject",
    ]
    let faulty = names.first { root.value.member($0)?.text?.hasControlCharacter == true }
    return faulty.map {
      Refusal(.malformedLedgerText, "STO-84", at: Text(stringLiteral: $0).string)
    }
  }

  /// Returns an optional member.
  subscript(_ name: StaticString) -> MemberNode? { root[name] }

  /// Returns a member that must be present; its value may be null.
  func required(_ name: StaticString) throws(Refusal) -> MemberNode { try root.required(name) }

  /// Returns the request as JSON without the members `names`, with another `attempt` (EXC-18). A
  /// copy is needed, because the request's text is wiped when the call returns.
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

extension Operation {
  /// Made once: building the row of each operation for a comparison would be slow.
  private static let named: [(name: StaticString, kind: Operation)] = allCases.map {
    ($0.row.name, $0)
  }

  var name: StaticString { row.name }

  /// Finds the operation with this name; `nil` if there is none.
  fileprivate init?(_ name: Text) {
    let found = Operation.named.first { name.utf8[...].elementsEqual($0.name) }
    guard let found else { return nil }
    self = found.kind
  }
}
