/// The id of a take-back, `takeId`: grant id, `-`, and the units that stay with the customer. A
/// take-back that is handed out again has the same id, a later and larger one another (STO-35).
struct TakeBackId {
  let grantId: Text
  let target: Int64

  init(grantId: Text, target: Int64) {
    self.grantId = grantId
    self.target = target
  }

  /// - Throws: `misuse.exchange.request`.
  init(_ node: MemberNode) throws(Refusal) {
    let bytes = try node.text(66...81).utf8
    let digits = bytes.dropFirst(65)
    guard bytes.dropFirst(64).first == 0x2d, let target = JSONValue.integer(digits), target >= 0
    else { throw node.refusal(.range) }
    grantId = Text(Array(bytes.prefix(64)))
    self.target = target
  }

  var text: Text { Text(grantId.utf8 + "-".utf8 + Array(String(target).utf8)) }
}
