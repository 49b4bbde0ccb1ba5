/// The HTTP response that the host hands in.
struct HTTPResponse {
  /// The HTTP status; 0 if no response came: connection refused, TLS fault, time-out.
  let status: Int64
  let headers: [(name: Text, value: Text)]
  /// The body; empty if it was truncated.
  private(set) var body: [UInt8]
  /// Whether the body was longer than the request allows (EXC-19).
  let isTruncated: Bool

  init(
    status: Int64, headers: [(name: Text, value: Text)] = [], body: [UInt8] = [],
    isTruncated: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
  }

  /// Reads a host's reply to the HTTP step `id`.
  ///
  /// - Throws: `misuse.exchange.reply` for a wrong form, `misuse.exchange.order` for a reply to
  ///   another step.
  init(_ bytes: [UInt8], to id: Int64) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, ExchangeInput.answer)
      .object(["id", "status", "headers", "body", "truncated"])
    let given = try root.required("id").integer(Int64.min...Int64.max)
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    status = try root.required("status").integer(0...999)
    headers = try root["headers"].map { list throws(Refusal) in try HTTPResponse.read(list) } ?? []
    isTruncated = try root["truncated"]?.boolean() ?? false
    let body = try root.required("body")
    self.body = isTruncated ? [] : try ExchangeInput.body(body)
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

  /// Wipes the body (EXC-22). Evidence that was made from the body keeps its own bytes.
  mutating func wipe() { Secret.wipe(&body) }

  /// Returns the value of the first header with this lower-case name.
  func header(_ name: StaticString) -> Text? {
    headers.first { $0.name.asciiLowercased.utf8[...].elementsEqual(name) }?.value
  }
}
