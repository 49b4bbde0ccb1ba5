/// Writes dates as receipts and verifyReceipt responses do.
public enum WrittenDate {
  /// Returns milliseconds since 1970 as "2026-01-31 23:59:59 Etc/GMT".
  public static func gmt(_ ms: Int64) -> String {
    CertificateTime.readable(ms: ms) + " Etc/GMT"
  }

  /// Returns milliseconds since 1970 as "… America/Los_Angeles", in local time.
  public static func pacific(_ ms: Int64) -> String {
    let hours: Int64 = isPacificSummer(ms) ? 7 : 8
    return CertificateTime.readable(ms: ms - hours * 3_600_000) + " America/Los_Angeles"
  }

  /// Returns milliseconds since 1970 as "2026-01-31T23:59:59Z".
  public static func iso(_ ms: Int64) -> String {
    joined(ms) + "Z"
  }

  /// Returns milliseconds since 1970 as "2026-02-01T00:59:59+0100", as Xcode does.
  public static func xcode(_ ms: Int64) -> String {
    joined(ms + 3_600_000) + "+0100"
  }

  /// Returns day and time with a T between them.
  private static func joined(_ ms: Int64) -> String {
    String(CertificateTime.readable(ms: ms).map { $0 == " " ? "T" : $0 })
  }

  /// Whether Pacific daylight time is in force: from the second Sunday in March, 10:00 UTC, to
  /// the first Sunday in November, 9:00 UTC.
  private static func isPacificSummer(_ ms: Int64) -> Bool {
    let digits = CertificateTime.readable(ms: ms).utf8.filter {
      $0 != 0x2d && $0 != 0x20 && $0 != 0x3a
    }
    let number = digits.prefix(10).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    let (month, day, hour) = (number / 10_000 % 100, number / 100 % 100, number % 100)
    if month != 3, month != 11 { return month > 3 && month < 11 }
    // 1970-01-01 was a Thursday; the weekday counts from Sunday.
    let weekday = (ms / 86_400_000 + 4) % 7
    let sunday = day - weekday
    if month == 3 {
      if sunday >= 15 || (weekday > 0 && sunday >= 8) { return true }
      return weekday == 0 && (8...14).contains(day) && hour >= 10
    }
    if weekday == 0, day <= 7 { return hour < 9 }
    return sunday < 1
  }
}
