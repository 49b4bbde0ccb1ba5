/// The HTTP headers of a metered response, ready to be sent (BCK-20).
struct MeterHeaders {
  private let entries: [(name: StaticString, value: Text)]

  static let none = MeterHeaders(entries: [])

  private init(entries: [(name: StaticString, value: Text)]) { self.entries = entries }

  /// Creates the headers of a metered call.
  init(_ meter: Meter, limit: Int64, left: Int64, isExhausted: Bool, nowMs: Int64) {
    let seconds = MeterHeaders.seconds(until: meter.bucket.endMs, nowMs)
    let name = "\"" + meter.name.string + "\""
    let policy = Text(name + ";q=" + String(limit) + ";w=86400")
    let state = Text(name + ";r=" + String(left) + ";t=" + seconds)
    var entries: [(name: StaticString, value: Text)] = []
    if isExhausted { entries.append((name: "Retry-After", value: Text(seconds))) }
    entries.append((name: "RateLimit-Policy", value: policy))
    entries.append((name: "RateLimit", value: state))
    self.entries = entries
  }

  /// Creates the headers of a refusal that does not reveal its counter.
  init(retryAt endMs: Int64, nowMs: Int64) {
    let seconds = MeterHeaders.seconds(until: endMs, nowMs)
    entries = [(name: "Retry-After", value: Text(seconds))]
  }

  /// Returns the seconds until `endMs`, rounded up, at least 1.
  private static func seconds(until endMs: Int64, _ nowMs: Int64) -> String {
    String(max(1, (endMs &- nowMs &+ 999) / 1000))
  }

  /// Writes `"headers":{name: value}`.
  func write(_ writer: inout JSONWriter) {
    writer.name("headers")
    writer.beginObject()
    for entry in entries { writer.member(entry.name, entry.value) }
    writer.endObject()
  }
}
