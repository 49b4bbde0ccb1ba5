/// The JSON that a host hands to a conversation: a request or an answer.
enum ExchangeInput {
  /// EXC-5: requests and answers are at most this long.
  static let byteCap = 8 << 20

  /// A page of a network answer or of a store's rows is longer than evidence.
  private static let caps = JSONCaps(elements: 16_384, values: 1 << 20)

  /// What a request and an answer are refused with.
  static let request = MemberRefusals(.misuseExchangeRequest, "EXC-1")
  static let answer = MemberRefusals(.misuseExchangeAnswer, "EXC-5")

  /// The top of the text, an object.
  static func read(
    _ bytes: [UInt8], _ refusals: MemberRefusals
  ) throws(Refusal) -> MemberNode {
    if bytes.count > byteCap {
      throw refusals.refusal(.range, at: "byte " + String(byteCap))
    }
    return try MemberNode.read(bytes, caps, refusals)
  }

  /// The body of an answer that came over the network: `{"text":…}`,
  /// `{"base64":…}` or null, which means empty.
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
