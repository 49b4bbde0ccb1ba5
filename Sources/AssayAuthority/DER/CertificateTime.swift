/// One bound of a certificate's validity, in any spelling.
public enum CertificateTime: Sendable {
  /// UTCTime `YYMMDDHHMMSSZ` from seconds since 1970.
  case utc(Int64)
  /// GeneralizedTime `YYYYMMDDHHMMSSZ` from seconds since 1970.
  case generalized(Int64)
  /// UTCTime with exactly this text.
  case utcText(String)
  /// GeneralizedTime with exactly this text.
  case generalizedText(String)

  /// Returns UTCTime up to the year 2049 and GeneralizedTime from then on (RFC 5280 §4.1.2.5).
  public static func standard(_ seconds: Int64) -> CertificateTime {
    seconds < 2_524_608_000 ? .utc(seconds) : .generalized(seconds)
  }

  package var der: [UInt8] {
    switch self {
    case .utc(let seconds):
      return DER.value(0x17, Array(CertificateTime.digits(seconds).dropFirst(2)))
    case .generalized(let seconds): return DER.value(0x18, CertificateTime.digits(seconds))
    case .utcText(let text): return DER.value(0x17, Array(text.utf8))
    case .generalizedText(let text): return DER.value(0x18, Array(text.utf8))
    }
  }

  /// Returns seconds since 1970 as "20260131235959Z".
  static func digits(_ seconds: Int64) -> [UInt8] {
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = seconds - day * 86_400
    let date = civil(day)
    let parts: [(Int64, Int)] = [
      (date.year, 4), (date.month, 2), (date.day, 2),
      (rest / 3600, 2), (rest / 60 % 60, 2), (rest % 60, 2),
    ]
    return parts.flatMap { padded($0.0, $0.1) } + [UInt8(ascii: "Z")]
  }

  /// Returns milliseconds since 1970 as "2026-01-31 23:59:59".
  public static func readable(ms: Int64) -> String {
    let seconds = ms >= 0 ? ms / 1000 : (ms - 999) / 1000
    let text = digits(seconds)
    guard text.count >= 15 else { return String(ms) }
    let at = text.count - 15
    func part(_ from: Int, _ to: Int) -> String {
      String(decoding: text[(at + from)..<(at + to)], as: UTF8.self)
    }
    return part(0, 4) + "-" + part(4, 6) + "-" + part(6, 8) + " " + part(8, 10) + ":"
      + part(10, 12) + ":" + part(12, 14)
  }

  private static func padded(_ number: Int64, _ width: Int) -> [UInt8] {
    let text = Array(String(number).utf8)
    return Array(repeating: UInt8(ascii: "0"), count: max(0, width - text.count)) + text
  }

  /// Returns the Gregorian date of a day number since 1970-01-01.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
