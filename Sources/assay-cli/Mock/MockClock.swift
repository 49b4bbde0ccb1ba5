/// The time that the player takes as now.
struct MockClock: Sendable {
  /// nil: the machine's.
  private var fixed: Int64?

  /// - Parameter text: milliseconds since 1970, a date, or `live`.
  init(_ text: String) throws {
    fixed = text == "live" ? nil : try MintedValues.date(text, "--clock")
  }

  /// Milliseconds since 1970.
  var now: Int64 { fixed ?? FileSystem.now }

  mutating func set(_ now: Int64?) { fixed = now }

  /// Stops it, so much later than it is; nothing where that is no time of ours.
  mutating func advance(by ms: Int64) {
    let later = now + ms
    if MintedValues.dates.contains(later) { fixed = later }
  }
}
