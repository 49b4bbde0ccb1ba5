#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
#if Foundation && canImport(FoundationEssentials)
  public import struct FoundationEssentials.Date
#elseif Foundation && canImport(Foundation)
  public import struct Foundation.Date
#endif

/// An instant in milliseconds since 1970 UTC, as Apple signs dates and the library accepts the
/// time. With Foundation it converts from and to `Date`.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The time of the system's clock, which the library itself never reads.
  public static var now: Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000)
  }

  /// An end that never comes, for `checkExpiry`.
  public static let never = Timestamp(milliseconds: .max)

  /// Returns a later instant, or the last representable one.
  public func advanced(by duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    let (whole, first) = seconds.multipliedReportingOverflow(by: 1000)
    let (added, second) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    let (sum, third) = milliseconds.addingReportingOverflow(added)
    guard first || second || third else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: seconds < 0 ? .min : .max)
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The instant as "2026-11-22T09:30:00.250Z"; the number of milliseconds outside the years 0 to
  /// 9999.
  public var description: String {
    let day = Int64(86_400_000)
    guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else {
      return String(milliseconds) + " ms"
    }
    let inDay = (milliseconds % day + day) % day
    let (year, month, date) = Timestamp.civil((milliseconds - inDay) / day)
    func digits(_ number: Int64, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(date, 2) + "T"
      + digits(inDay / 3_600_000, 2) + ":" + digits(inDay / 60_000 % 60, 2) + ":"
      + digits(inDay / 1000 % 60, 2) + "." + digits(inDay % 1000, 3) + "Z"
  }

  /// Returns year, month and day for a number of days since 1970, in the years 0 to 9999. Counts
  /// years from March, so that a leap day is the last day of a year.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let since = days + 719_468
    let era = (since >= 0 ? since : since - 146_096) / 146_097
    let inEra = since - era * 146_097
    let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
    let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * inYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, inYear - (153 * shifted + 2) / 5 + 1)
  }
}

#if Foundation && (canImport(FoundationEssentials) || canImport(Foundation))
  extension Timestamp {
    /// Rounds a date down to its millisecond; the nearest representable instant if the date lies
    /// beyond.
    public init(_ date: Date) {
      let exact = (date.timeIntervalSince1970 * 1000).rounded(.down)
      if let fits = Int64(exactly: exact) {
        self.init(milliseconds: fits)
      } else {
        self.init(milliseconds: exact < 0 ? .min : .max)
      }
    }

    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
  }
#endif
