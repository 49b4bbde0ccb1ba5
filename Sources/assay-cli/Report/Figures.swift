/// Formats numbers, sizes and times of a report, with integer arithmetic only, so that every
/// machine writes the same.
enum Figures {
  /// Returns a number with separators: 1,234,567.
  static func grouped(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number).utf8)
    var out: [UInt8] = []
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0, digits[place - 1] != 0x2d { out.append(0x2c) }
      out.append(digit)
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Returns "1 request", "20 requests".
  static func requests(_ count: Int) -> String {
    grouped(count) + (count == 1 ? " request" : " requests")
  }

  /// Returns "79.0 %". A part that is present, or missing, never rounds to nothing: "< 0.1 %", ">
  /// 99.9 %".
  static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "–" }
    let (quotient, rest) = (part * 1000).quotientAndRemainder(dividingBy: whole)
    let tenths = quotient + (rest * 2 >= whole ? 1 : 0)
    if tenths == 0, part > 0 { return "< 0.1 %" }
    if tenths == 1000, part < whole { return "> 99.9 %" }
    return "\(tenths / 10).\(tenths % 10) %"
  }

  /// Returns a change as "+20 (+7.1 %)"; "new" if there was none before.
  static func change(from before: Int, to now: Int) -> String {
    if now == before { return "0" }
    if before == 0 { return "new" }
    let (difference, sign) = (abs(now - before), now > before ? "+" : "−")
    return "\(sign)\(grouped(difference)) (\(sign)\(times(difference, of: before)))"
  }

  /// Returns a part, which may be more than the whole, as "7.1 %", "1,200 %".
  private static func times(_ part: Int, of whole: Int) -> String {
    if part < whole { return share(part, of: whole) }
    return "\(grouped((Int128(part) * 100 + Int128(whole) / 2) / Int128(whole))) %"
  }

  /// Returns "3.4 GB", in powers of 1000.
  static func bytes(_ count: Int) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"]
    var unit = 0
    var scale = 1
    while unit + 1 < units.count, count >= scale * 1000 {
      scale *= 1000
      unit += 1
    }
    if unit == 0 { return "\(count) B" }
    let tenths = (count + scale / 20) / (scale / 10)
    if tenths >= 10_000, unit + 1 < units.count { return "1.0 \(units[unit + 1])" }
    if tenths >= 1000 { return "\((tenths + 5) / 10) \(units[unit])" }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// Returns "1:05", "2:00:00".
  static func clock(_ seconds: Int) -> String {
    let (minutes, second) = (seconds / 60, seconds % 60)
    if minutes < 60 { return "\(minutes):\(two(second))" }
    return "\(minutes / 60):\(two(minutes % 60)):\(two(second))"
  }

  static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The parts of a UTC date.
  struct Moment {
    let year, month, day, hour, minute: Int

    init(ms: Int64) {
      let days = ms / 86_400_000
      let minutes = Int(ms % 86_400_000 / 60_000)
      // Days since 0000-03-01, in eras of 400 years.
      let shifted = days + 719_468
      let era = shifted / 146_097
      let dayOfEra = shifted - era * 146_097
      let yearOfEra =
        (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let fromMarch = (5 * dayOfYear + 2) / 153
      day = Int(dayOfYear - (153 * fromMarch + 2) / 5 + 1)
      month = Int(fromMarch < 10 ? fromMarch + 3 : fromMarch - 9)
      year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
      hour = minutes / 60
      minute = minutes % 60
    }

    var clock: String { "\(Figures.two(hour)):\(Figures.two(minute))" }
    var isoDate: String { "\(year)-\(Figures.two(month))-\(Figures.two(day))" }

    private static let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September",
      "October", "November", "December",
    ]

    private var monthName: String { Moment.months[min(max(month, 1), 12) - 1] }

    /// The date, "20 November 2026".
    var date: String { "\(day) \(monthName) \(year)" }
    /// The short date, "20 Nov".
    var shortDate: String { "\(day) \(monthName.prefix(3))" }
  }

  /// Returns "20 November 2026, 00:00 to 23:59 UTC", or two dates.
  static func period(_ first: Int64, _ last: Int64) -> String {
    let (from, to) = (Moment(ms: first), Moment(ms: last))
    if from.isoDate == to.isoDate, from.clock == to.clock {
      return "\(from.date), \(from.clock) UTC"
    }
    if from.isoDate == to.isoDate { return "\(from.date), \(from.clock) to \(to.clock) UTC" }
    return "\(from.date), \(from.clock) to \(to.date), \(to.clock) UTC"
  }

  /// Returns "hour", "15 minutes", "day".
  static func interval(_ widthMs: Int64) -> String {
    switch widthMs / 60_000 {
    case 1: return "minute"
    case 60: return "hour"
    case 1440: return "day"
    case 10_080: return "week"
    case 1..<60: return "\(widthMs / 60_000) minutes"
    case 61..<1440: return "\(widthMs / 3_600_000) hours"
    default: return "\(widthMs / 604_800_000) weeks"
    }
  }

  /// Returns a probability as "1 in 2,000,000".
  static func odds(_ rate: Double) -> String {
    if rate <= 0 { return "none" }
    if rate < 1e-12 { return "less than 1 in 1,000,000,000,000" }
    return "1 in \(grouped(Int((1 / rate).rounded(.down))))"
  }
}
