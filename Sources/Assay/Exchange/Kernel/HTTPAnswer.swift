/// An answer that came over the network.
struct HTTPAnswer {
  /// 0: no answer: connection refused, TLS fault, time-out.
  let status: Int64
  let headers: [(name: Text, value: Text)]
  /// Empty where it was cut.
  private(set) var body: [UInt8]
  /// EXC-19: it was longer than the request allows.
  let isCut: Bool

  init(
    status: Int64, headers: [(name: Text, value: Text)] = [], body: [UInt8] = [],
    isCut: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isCut = isCut
  }

  /// - Throws: `misuse.exchange.answer` for a wrong form, `misuse.exchange.order`
  ///   for an answer to another step.
  init(_ bytes: [UInt8], to id: Int64) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, ExchangeInput.answer)
      .object(["id", "status", "headers", "body", "cut"])
    let given = try root.required("id").integer(Int64.min...Int64.max)
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    status = try root.required("status").integer(0...999)
    headers = try root["headers"].map { list throws(Refusal) in try HTTPAnswer.read(list) } ?? []
    isCut = try root["cut"]?.boolean() ?? false
    let body = try root.required("body")
    self.body = isCut ? [] : try ExchangeInput.body(body)
  }

  private static func read(
    _ list: MemberNode
  ) throws(Refusal) -> [(name: Text, value: Text)] {
    var headers: [(name: Text, value: Text)] = []
    for entry in try list.elements() {
      let pair = try entry.elements()
      guard pair.count == 2, let name = pair.first, let value = pair.last else {
        throw entry.refusal(.range)
      }
      headers.append((try name.text(), try value.text()))
    }
    return headers
  }

  /// EXC-22: the body; where evidence is made of it, it stays for that.
  mutating func wipe() { Secret.wipe(&body) }

  /// The first header of that name, given in lower case.
  func header(_ name: StaticString) -> Text? {
    headers.first { $0.name.asciiLowercased.utf8[...].elementsEqual(name) }?.value
  }
}
