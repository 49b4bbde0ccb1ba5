/// The location of an object in a response.
struct ResponsePath: Sendable {
  /// The path of the list or object, "receipt.in_app"; empty for the response itself.
  let list: StaticString
  let index: Int?

  init(_ list: StaticString, _ index: Int? = nil) {
    self.list = list
    self.index = index
  }

  /// Returns a member's location: "receipt.in_app[3].quantity".
  func of(_ member: StaticString) -> String {
    var place = Text(stringLiteral: list).string
    if let index { place += "[" + String(index) + "]" }
    let name = Text(stringLiteral: member).string
    return place.isEmpty ? name : place + "." + name
  }
}
