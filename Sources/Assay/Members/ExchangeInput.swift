/// The JSON that a host hands to a conversation: a request or an answer.
enum ExchangeInput {
  typealias Node = ConfigurationNode

  /// EXC-5: requests and answers are at most this long.
  static let byteCap = 8 << 20

  /// A page of a network answer or of a store's rows is longer than evidence.
  private static let caps = JSONCaps(elements: 16_384, values: 1 << 20)

  /// The top of the text, an object. A fault is refused with `status`, at the
  /// byte where it stands.
  static func read(
    _ bytes: [UInt8], _ status: Status, _ rule: StaticString
  ) throws(Refusal) -> Node {
    try require(bytes.count <= byteCap, status, rule, at: "byte " + String(byteCap))
    do {
      return Node(try JSONReader.readObject(bytes, caps: caps).root)
    } catch {
      throw Refusal(
        status, rule, at: "byte " + String(error.offset),
        detail: Text(stringLiteral: error.status.name).string)
    }
  }

  /// Reads members with the reader of configurations; what it refuses is refused
  /// here with `status`, at the same member.
  static func members<Result>(
    _ status: Status, _ rule: StaticString, _ read: () throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    do {
      return try read()
    } catch {
      throw Refusal(status, rule, at: error.place)
    }
  }

  /// The body of an answer that came over the network: `{"text":…}`,
  /// `{"base64":…}` or null, which is an empty one.
  static func body(_ node: Node) throws(Refusal) -> [UInt8] {
    if node.value.isNull { return [] }
    let form = try node.object(["text", "base64"])
    try require(form.value.count == 1, .configDocumentType, "EXC-5", at: node.path)
    if let text = form["text"] { return try text.text().utf8 }
    guard let entry = form["base64"], let bytes = Base64.decodeStandard(try entry.text().utf8[...])
    else { throw Refusal(.configDocumentRange, "EXC-5", at: node.path + ".base64") }
    return bytes
  }
}

extension ConfigurationNode {
  /// The member of that name, unless it is null: absent facts of a document are
  /// null, and a host may pass them on as they stand (DOC-2).
  func present(_ name: StaticString) -> ConfigurationNode? {
    guard let node = self[name], !node.value.isNull else { return nil }
    return node
  }
}
