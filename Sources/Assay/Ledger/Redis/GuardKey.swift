/// The keys of rows. The part in braces decides the slot of a cluster.
enum GuardKey {
  static func meter(_ meter: Meter) -> Text {
    let name = meter.name.utf8 + [0x3a] + meter.bucket.name.utf8
    return key(meter.scope, Text("q:".utf8 + name))
  }

  static func challenge(_ id: Text) -> Text { key(id, "challenge") }

  static func once(_ id: Text) -> Text { key(id, "event") }

  private static func key(_ tag: Text, _ rest: Text) -> Text {
    Text(Array("assay:{".utf8) + tag.utf8 + Array("}:".utf8) + rest.utf8)
  }
}
