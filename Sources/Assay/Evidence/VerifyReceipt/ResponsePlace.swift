/// Where an object is in an answer.
struct ResponsePlace: Sendable {
  /// "receipt.in_app"; empty for the answer itself.
  let list: StaticString
  let index: Int?

  init(_ list: StaticString, _ index: Int? = nil) {
    self.list = list
    self.index = index
  }

  /// "receipt.in_app[3].quantity".
  func of(_ member: StaticString) -> String {
    var place = Text(stringLiteral: list).string
    if let index { place += "[" + String(index) + "]" }
    let name = Text(stringLiteral: member).string
    return place.isEmpty ? name : place + "." + name
  }
}
