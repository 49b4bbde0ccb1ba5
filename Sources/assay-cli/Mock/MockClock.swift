/// The current time of the mock.
struct MockClock: Sendable {
  /// The fixed time; `nil` for the machine's clock.
  private var fixed: Int64?

  /// Reads a time.
  ///
  /// - Parameter text: milliseconds since 1970 UTC, a date, or `live`.
  init(_ text: String) throws {
    fixed = text == "live" ? nil : try MintedValues.date(text, "--clock")
  }

  /// The current time in milliseconds since 1970 UTC.
  var now: Int64 { fixed ?? FileSystem.now }

  mutating func set(_ now: Int64?) { fixed = now }

  /// Stops the clock this much later; does nothing if that is beyond the supported times.
  mutating func advance(by ms: Int64) {
    let later = now + ms
    if MintedValues.dates.contains(later) { fixed = later }
  }
}
