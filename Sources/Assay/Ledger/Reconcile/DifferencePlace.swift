/// A place in a list that is ordered by a time and then by a key: the next page begins after it.
struct DifferencePlace: Sendable {
  /// The time in milliseconds since 1970 UTC.
  let atMs: Int64
  let key: Text

  /// The place before every row.
  static let start = DifferencePlace(atMs: 0, key: "")

  /// Whether a row with this time and key comes after the place.
  func precedes(_ atMs: Int64, _ key: Text) -> Bool {
    atMs > self.atMs || atMs == self.atMs && Text.precedes(self.key, key)
  }
}

extension DifferencePlace {
  /// Reads the text that a document has given for the next page; `nil` if it is none.
  init?(_ text: Text) {
    guard let dash = text.utf8.firstIndex(of: 0x2d),
      let atMs = JSONValue.integer(text.utf8[..<dash]), atMs <= MemberNode.exactInteger
    else { return nil }
    self.init(atMs: atMs, key: Text(Array(text.utf8[(dash &+ 1)...])))
  }

  var text: Text { Text(Array(String(atMs).utf8) + [0x2d] + key.utf8) }
}
