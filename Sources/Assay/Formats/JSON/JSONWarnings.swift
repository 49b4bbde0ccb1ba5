extension Warning {
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
