extension CheckLog {
  /// Writes the member `checks`.
  ///
  /// - Parameter isRefused: whether the open check failed.
  func write(isRefused: Bool, _ writer: inout JSONWriter) {
    writer.name("checks")
    writer.beginArray()
    for (index, id) in ids.enumerated() {
      if index != open, let reason = reasons[index] {
        writer.beginObject()
        writer.member("id", id)
        writer.member("ok", boolean: nil)
        writer.member("reason", reason.text)
        writer.endObject()
      } else {
        let isFailed = isRefused && index == open
        writer.raw("{\"id\":\"", id, isFailed ? "\",\"ok\":false}" : "\",\"ok\":true}")
      }
    }
    writer.endArray()
  }
}
