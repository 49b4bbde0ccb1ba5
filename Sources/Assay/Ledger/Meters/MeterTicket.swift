/// The token with which consumed units are released to the counter that they came from, even on
/// another day (STO-69). A ticket is not signed: it stays on the server.
struct MeterTicket: Sendable {
  enum Operation: Int, Sendable {
    case take, admit

    static let names: [StaticString] = ["take", "admit"]

    /// The prefix of the scope of the operation's counters.
    fileprivate var scope: StaticString {
      switch self {
      case .take: return "USER#"
      case .admit: return "SIGNUP_IP#"
      }
    }
  }

  let operation: Operation
  let meter: Meter
  let units: Int64

  private static let textLengths = 1...1024
  private static let refusals = MemberRefusals(.misuseLedgerTicket, "STO-69")

  init(_ operation: Operation, _ meter: Meter, units: Int64) {
    self.operation = operation
    self.meter = meter
    self.units = units
  }

  /// - Throws: `misuse.ledger.ticket`, for one of another operation too.
  init(_ given: MemberNode, of operation: Operation) throws(Refusal) {
    let node = given.refusing(.misuseLedgerTicket, "STO-69")
    let text = try node.text(Self.textLengths)
    guard let bytes = Base64.decodeURL(text.utf8[...]) else { throw node.refusal(.range) }
    let root = try MemberNode.read(bytes, .evidence, Self.refusals)
      .object(["v", "op", "scope", "bucket", "meter", "units"])
    _ = try root.required("v").integer(1...1)
    let found = try root.required("op").choice(Operation.names)
    try require(found == operation.rawValue, node)
    let scope = try root.required("scope").text(1...288)
    try require(scope.utf8.starts(with: Text(stringLiteral: operation.scope).utf8), node)
    guard let bucket = MeterBucket(day: try root.required("bucket").text()) else {
      throw node.refusal(.range)
    }
    let name = try root.required("meter").text()
    try require(Configuration.PlanQuotas.isMeter(name), node)
    meter = Meter(scope: scope, bucket, name)
    units = try root.required("units").integer(1...MemberNode.exactInteger)
    self.operation = operation
  }

  var text: Text {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("v", integer: 1)
    writer.member("op", Operation.names[operation.rawValue])
    writer.member("scope", meter.scope)
    writer.member("bucket", meter.bucket.name)
    writer.member("meter", meter.name)
    writer.member("units", integer: units)
    writer.endObject()
    return Text(Base64.encodeURL(writer.bytes))
  }
}
