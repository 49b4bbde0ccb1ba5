/// Something that a person should know of and that refuses nothing.
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

  static func write(_ warnings: [Warning], _ writer: inout JSONWriter, inside outer: String = "") {
    for warning in warnings {
      writer.beginObject()
      writer.member("id", warning.id)
      writer.name("at")
      writer.string(outer.isEmpty ? warning.place : outer + "/" + warning.place)
      writer.endObject()
    }
  }
}
