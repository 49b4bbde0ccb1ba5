/// The members of a request for a signature. What a client chose is never signed: they
/// are the server's own policy (SIG-3).
struct SigningParameters {
  private let request: ExchangeRequest

  /// Of product and offer ids, and of what else is signed as it stands, in bytes.
  private static let textLength = 1...255
  /// U+2063, which stands between the fields of a promotional offer (SIG-5).
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

  /// SIG-5: ASCII, in lower case; empty where there is none.
  func username() throws(Refusal) -> Text {
    guard let node = node("applicationUsername") else { return "" }
    let name = try SigningParameters.text(node, 0...255)
    try require(name.utf8.allSatisfy { $0 < 0x80 }, node)
    return name.asciiLowercased
  }

  /// SIG-5: milliseconds since 1970 UTC.
  func timestamp() throws(Refusal) -> Int64? {
    try node("timestamp")?.integer(TimeWindow.start...TimeWindow.end &- 1)
  }

  /// SIG-8: the host's in lower case, or a new one.
  func nonce() throws(Refusal) -> Text {
    guard let given = request["nonce"]?.refusing(.misuseSignParameter, "SIG-8") else {
      return try RandomUUID.make()
    }
    let nonce = try given.text()
    try require(nonce.isUUID, given)
    return nonce.asciiLowercased
  }

  /// The app that is named, or the only one.
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

  /// Without control characters, and without the separator (SIG-3).
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
