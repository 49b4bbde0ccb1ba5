/// Something that a person should know but that refuses nothing.
struct Warning: Sendable, Equatable {
  /// "unknown-value", "unexpected-type", …
  let id: StaticString
  /// The member it is about.
  let place: String

  init(_ id: StaticString, at place: String) {
    self.id = id
    self.place = place
  }

  static func == (left: Warning, right: Warning) -> Bool {
    Text(stringLiteral: left.id) == Text(stringLiteral: right.id) && left.place == right.place
  }
}
