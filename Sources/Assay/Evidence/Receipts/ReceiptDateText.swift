/// The date texts of receipts, `YYYY-MM-DD HH:MM:SS <zone>`, at fixed offsets (RCP-14). Reading
/// needs no time-zone table: the zone is only compared as a name.
enum ReceiptDateText {
  static let utc: StaticString = "Etc/GMT"
  static let pacific: StaticString = "America/Los_Angeles"

  /// Returns seconds since 1970 as if the text were UTC; `nil` for another form, another zone, or
  /// a date that does not exist. Years are 0000 … 9999.
  static func seconds(_ text: ArraySlice<UInt8>, zone: StaticString) -> Int64? {
    seconds(text.span, 0..<text.count, zone: zone)
  }

  /// Returns the same seconds for the text at `part` of `bytes`.
  static func seconds(
    _ bytes: Span<UInt8>, _ part: Range<Int>, zone: StaticString
  ) -> Int64? {
    let start = part.lowerBound
    guard bytes.equals(zone, start &+ 20..<Swift.max(part.upperBound, start &+ 20)),
      bytes[start &+ 4] == 0x2d, bytes[start &+ 7] == 0x2d, bytes[start &+ 10] == 0x20,
      bytes[start &+ 13] == 0x3a, bytes[start &+ 16] == 0x3a, bytes[start &+ 19] == 0x20,
      let year = digits(bytes, start, 4), let month = digits(bytes, start &+ 5, 2),
      let day = digits(bytes, start &+ 8, 2), let hour = digits(bytes, start &+ 11, 2),
      let minute = digits(bytes, start &+ 14, 2), let second = digits(bytes, start &+ 17, 2)
    else { return nil }
    guard month >= 1, month <= 12, day >= 1,
      day <= CivilDate.daysInMonth(year: year, month: month), hour < 24, minute < 60, second < 60
    else { return nil }
    return CivilDate.days(year: year, month: month, day: day) &* 86_400
      &+ hour &* 3600 &+ minute &* 60 &+ second
  }

  /// Returns the text of a time, in milliseconds since 1970 UTC of the years 1970 … 9999, without
  /// its fraction of a second (VRE-25).
  static func text(_ ms: Int64, zone: StaticString) -> [UInt8] {
    let utc = ms / 1000
    let seconds = zone.hasSameBytes(as: pacific) ? PacificTime.local(seconds: utc) : utc
    let (year, month, day) = CivilDate.date(days: seconds / 86_400)
    let time = seconds % 86_400
    var text: [UInt8] = []
    text.reserveCapacity(40)
    func add(_ value: Int64, _ separator: UInt8) {
      text.append(0x30 &+ UInt8(truncatingIfNeeded: value / 10 % 10))
      text.append(0x30 &+ UInt8(truncatingIfNeeded: value % 10))
      text.append(separator)
    }
    add(year / 100, 0x20)
    text.removeLast()
    add(year % 100, 0x2d)
    add(month, 0x2d)
    add(day, 0x20)
    add(time / 3600, 0x3a)
    add(time / 60 % 60, 0x3a)
    add(time % 60, 0x20)
    zone.withUTF8Buffer { unsafe text.append(contentsOf: $0) }
    return text
  }

  @inline(__always)
  private static func digits(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
    var value: Int64 = 0
    for at in start..<start &+ count {
      let digit = bytes[at] &- 0x30
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ Int64(digit)
    }
    return value
  }
}
