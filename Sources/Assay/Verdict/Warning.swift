/// A remark about evidence that is accepted all the same.
struct Warning: Sendable, Equatable {
  /// The id of the warning, such as "unknown-value" or "unexpected-type".
  let id: StaticString
  /// The path of the member that the warning concerns.
  let place: String

  init(_ id: StaticString, at place: String) {
    self.id = id
    self.place = place
  }

  static func == (left: Warning, right: Warning) -> Bool {
    Text(stringLiteral: left.id) == Text(stringLiteral: right.id) && left.place == right.place
  }
}
