/// One bit with the meaning that the configuration gives it.
struct DeviceCheckBit: Sendable {
  let meaning: DeviceCheckPolicy.BitMeaning?
  /// As Apple has it.
  let value: Bool
  /// DVC-11: too old to count; always false for a bit that never ages, and where
  /// the month is not known.
  let isAged: Bool

  /// Whether it counts as set.
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

  /// `{"name","value","aged","set"}`.
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
