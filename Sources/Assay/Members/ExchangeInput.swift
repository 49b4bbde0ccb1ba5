/// The JSON that a host passes to an exchange: the request, or the reply to a step.
enum ExchangeInput {
  /// Upper limit of a request or reply in bytes: 8 MiB (EXC-5).
  static let byteCap = 8 << 20

  /// Limits above those of evidence: a response or a page of database rows is longer.
  private static let caps = JSONCaps(elements: 16_384, values: 1 << 20)

  /// The statuses of a malformed request and of a malformed reply.
  static let request = MemberRefusals(.misuseExchangeRequest, "EXC-1")
  static let answer = MemberRefusals(.misuseExchangeReply, "EXC-5")

  /// Reads the text, whose value must be an object.
  static func read(
    _ bytes: [UInt8], _ refusals: MemberRefusals
  ) throws(Refusal) -> MemberNode {
    if bytes.count > byteCap {
      throw refusals.refusal(.range, at: "byte " + String(byteCap))
    }
    return try MemberNode.read(bytes, caps, refusals)
  }

  /// Returns the body of an HTTP response: `{"text":…}`, `{"base64":…}`, or null for an empty
  /// one.
  static func body(_ node: MemberNode) throws(Refusal) -> [UInt8] {
    if node.value.isNull { return [] }
    let form = try node.object(["text", "base64"])
    try require(form.value.count == 1, node, .type)
    if let text = form["text"] { return try text.text().utf8 }
    let entry = try form.required("base64")
    guard let bytes = Base64.decodeStandard(try entry.text().utf8[...]) else {
      throw entry.refusal(.range)
    }
    return bytes
  }
}
