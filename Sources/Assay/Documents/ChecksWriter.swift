extension Checks {
  func write(_ writer: inout JSONWriter) {
    writer.name("checks")
    writer.beginArray()
    for (index, outcome) in outcomes.enumerated() {
      let id = ids[index]
      switch outcome {
      case .passed: writer.raw("{\"id\":\"", id, "\",\"ok\":true}")
      case .failed: writer.raw("{\"id\":\"", id, "\",\"ok\":false}")
      case .notMade(let reason):
        writer.beginObject()
        writer.member("id", id)
        writer.member("ok", boolean: nil)
        writer.member("why", reason.text)
        writer.endObject()
      }
    }
    writer.endArray()
  }
}
