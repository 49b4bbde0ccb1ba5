/// One DeviceCheck bit with its configured meaning.
struct DeviceCheckBit: Sendable {
  let meaning: DeviceCheckPolicy.BitMeaning?
  /// The bit's value at Apple.
  let value: Bool
  /// Whether the bit is older than its configured age, so that it counts as clear; always `false`
  /// for a bit without such an age, or if the month of the last write is unknown (DVC-11).
  let isAged: Bool

  /// Whether the bit counts as set.
  var isSet: Bool { value && !isAged }

  init(_ meaning: DeviceCheckPolicy.BitMeaning?, _ value: Bool, ageMonths: Int64?) {
    self.meaning = meaning
    self.value = value
    if let age = ageMonths, let limit = meaning?.resetAfterMonths {
      isAged = age > limit
    } else {
      isAged = false
    }
  }

  /// Writes the member `name` as `{"name","value","aged","set"}`.
  func write(_ name: StaticString, _ writer: inout JSONWriter) {
    writer.name(name)
    writer.beginObject()
    writer.member("name", meaning?.name)
    writer.member("value", boolean: value)
    writer.member("aged", boolean: isAged)
    writer.member("set", boolean: isSet)
    writer.endObject()
  }
}
