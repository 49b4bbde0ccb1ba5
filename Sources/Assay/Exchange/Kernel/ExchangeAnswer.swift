/// What the host brought for the open step, of the step's own form (EXC-5).
enum ExchangeAnswer {
  case http(HTTPAnswer)
  /// The time of a wait has come.
  case elapsed

  /// The answer to a wait: an object without members.
  static func elapsed(_ bytes: [UInt8]) throws(Refusal) {
    let text = try ExchangeInput.read(bytes, .misuseExchangeAnswer, "EXC-5")
    _ = try ExchangeInput.members(.misuseExchangeAnswer, "EXC-5") {
      () throws(Refusal) in try text.object([])
    }
  }
}

/// An answer that came over the network.
struct HTTPAnswer {
  /// 0: none came: refused, TLS fault, time-out.
  let status: Int64
  let headers: [(name: Text, value: Text)]
  /// Empty where it was cut.
  let body: [UInt8]
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

  /// - Throws: `misuse.exchange.answer` for another form, `misuse.exchange.order`
  ///   for an answer to another step.
  init(_ bytes: [UInt8], to id: Int64) throws(Refusal) {
    let text = try ExchangeInput.read(bytes, .misuseExchangeAnswer, "EXC-5")
    let (root, given) = try ExchangeInput.members(.misuseExchangeAnswer, "EXC-5") {
      () throws(Refusal) in
      let root = try text.object(["id", "status", "headers", "body", "cut"])
      return (root, try HTTPAnswer.required(root, "id").integer(Int64.min...Int64.max))
    }
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    self = try ExchangeInput.members(.misuseExchangeAnswer, "EXC-5") {
      () throws(Refusal) in try HTTPAnswer(root)
    }
  }

  private init(_ root: ExchangeInput.Node) throws(Refusal) {
    status = try HTTPAnswer.required(root, "status").integer(0...999)
    headers = try root["headers"].map { list throws(Refusal) in try HTTPAnswer.read(list) } ?? []
    isCut = try root["cut"]?.boolean() ?? false
    let body = try HTTPAnswer.required(root, "body")
    self.body = isCut ? [] : try ExchangeInput.body(body)
  }

  private static func read(
    _ list: ExchangeInput.Node
  ) throws(Refusal) -> [(name: Text, value: Text)] {
    var headers: [(name: Text, value: Text)] = []
    for entry in try list.elements() {
      let pair = try entry.elements()
      guard pair.count == 2, let name = pair.first, let value = pair.last else {
        throw Refusal(.misuseExchangeAnswer, "EXC-5", at: entry.path)
      }
      headers.append((try name.text(), try value.text()))
    }
    return headers
  }

  private static func required(
    _ root: ExchangeInput.Node, _ name: StaticString
  ) throws(Refusal) -> ExchangeInput.Node {
    guard let node = root[name] else {
      throw Refusal(.misuseExchangeAnswer, "EXC-5", at: Text(stringLiteral: name).string)
    }
    return node
  }

  /// The first header of that name, which is in lower case.
  func header(_ name: StaticString) -> Text? {
    headers.first { $0.name.asciiLowercased.utf8[...].elementsEqual(name) }?.value
  }
}
