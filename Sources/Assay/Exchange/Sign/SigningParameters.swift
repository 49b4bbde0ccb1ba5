/// The members of a request for a signature. They are the server's own decision: a client must
/// not choose what is signed (SIG-3).
struct SigningParameters {
  private let request: ExchangeRequest

  /// The length in bytes of product ids, offer ids and other texts that are signed unchanged.
  private static let textLength = 1...255
  /// U+2063, the separator of a promotional offer's fields (SIG-5).
  static let separator: [UInt8] = [0xe2, 0x81, 0xa3]

  init(_ request: ExchangeRequest) { self.request = request }

  private func node(_ name: StaticString) -> MemberNode? {
    request[name]?.refusing(.misuseSignParameter, "SIG-6")
  }

  private func required(_ name: StaticString) throws(Refusal) -> MemberNode {
    guard let node = node(name) else {
      throw Refusal(.misuseSignParameter, "SIG-6", at: Text(stringLiteral: name).string)
    }
    return node
  }

  func text(_ name: StaticString) throws(Refusal) -> Text {
    try SigningParameters.text(try required(name), SigningParameters.textLength)
  }

  func optionalText(_ name: StaticString) throws(Refusal) -> Text? {
    guard let node = node(name) else { return nil }
    return try SigningParameters.text(node, SigningParameters.textLength)
  }

  func boolean(_ name: StaticString) throws(Refusal) -> Bool { try required(name).boolean() }

  /// Returns the user name: ASCII in lower case, empty if the request has none (SIG-5).
  func username() throws(Refusal) -> Text {
    guard let node = node("applicationUsername") else { return "" }
    let name = try SigningParameters.text(node, 0...255)
    try require(name.utf8.allSatisfy { $0 < 0x80 }, node)
    return name.asciiLowercased
  }

  /// Returns the timestamp in milliseconds since 1970 UTC (SIG-5); `nil` if the request has none.
  func timestamp() throws(Refusal) -> Int64? {
    try node("timestamp")?.integer(TimeWindow.start...TimeWindow.end &- 1)
  }

  /// Returns the request's nonce in lower case, or a new UUID (SIG-8).
  func nonce() throws(Refusal) -> Text {
    guard let given = request["nonce"]?.refusing(.misuseSignParameter, "SIG-8") else {
      return try RandomUUID.make()
    }
    let nonce = try given.text()
    try require(nonce.isUUID, given)
    return nonce.asciiLowercased
  }

  /// Returns the app that the request names, or the only configured one.
  func bundleId(_ apps: [Configuration.App]) throws(Refusal) -> Text {
    if let node = node("bundleId") {
      let bundleId = try node.text()
      try require(apps.contains { $0.bundleId == bundleId }, node)
      return bundleId
    }
    guard let only = apps.first, apps.count == 1 else {
      throw Refusal(.misuseSignParameter, "SIG-6", at: "bundleId")
    }
    return only.bundleId
  }

  /// Returns a text without control characters and without the separator, which could move the
  /// boundary between two signed fields (SIG-3).
  private static func text(
    _ node: MemberNode, _ length: ClosedRange<Int>
  ) throws(Refusal) -> Text {
    let text = try node.text(length)
    try require(
      !text.hasControlCharacter && !contains(text, separator), .misuseSignParameter, "SIG-3",
      at: node.path)
    return text
  }

  private static func contains(_ text: Text, _ part: [UInt8]) -> Bool {
    text.utf8.indices.contains { text.utf8[$0...].starts(with: part) }
  }
}
