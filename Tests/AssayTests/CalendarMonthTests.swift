import Testing

@testable import Assay

@Suite("Months and shares")
struct CalendarMonthTests {
  @Test("docs/spec/device-check.md §2.2: a month is YYYY-MM and nothing else")
  func forms() {
    checkEqual(CalendarMonth("2026-05")?.year, 2026)
    checkEqual(CalendarMonth("2026-05")?.month, 5)
    for good: Text in ["2000-01", "2026-12", "9999-10"] {
      checkEqual(CalendarMonth(good)?.text, good)
    }
    for bad: Text in [
      "", "2026-5", "2026-00", "2026-13", "1999-12", "2026/05", "202605", "2026-05-01", "-026-05",
      "2026--5", "2026-a5", "20a6-05", " 2026-05",
    ] {
      check(CalendarMonth(bad) == nil)
    }
  }

  @Test("docs/spec/device-check.md §2.2: the age is a difference of months")
  func ages() throws {
    let may = try require(CalendarMonth("2026-05"))
    for (later, months) in [
      ("2026-05", 0), ("2026-06", 1), ("2027-05", 12), ("2026-04", -1), ("2025-12", -5),
    ] as [(Text, Int64)] {
      checkEqual(may.months(until: try require(CalendarMonth(later))), months)
    }
  }

  @Test("the month of a time is its month in UTC")
  func times() {
    checkEqual(CalendarMonth(ofMs: 1_780_271_999_999).text, "2026-05")
    checkEqual(CalendarMonth(ofMs: 1_780_272_000_000).text, "2026-06")
    checkEqual(CalendarMonth(ofMs: 1_199_145_600_000).text, "2008-01")
    checkEqual(CalendarMonth(ofMs: 4_102_444_799_999).text, "2099-12")
  }

  @Test("RSK-24 shares are exact to twelve places, in any notation of JSON")
  func shares() {
    func parts(_ text: String) -> Int64? { UnitFraction(utf8(text)[...])?.parts }
    for (text, value) in [
      ("0", 0), ("0.0", 0), ("0e5", 0), ("1", 1_000_000_000_000), ("1.000", 1_000_000_000_000),
      ("0.05", 50_000_000_000), ("5e-2", 50_000_000_000), ("5E-02", 50_000_000_000),
      ("0.5e-1", 50_000_000_000), ("50e-3", 50_000_000_000), ("0.005e1", 50_000_000_000),
      ("0.005e+1", 50_000_000_000), ("10e-1", 1_000_000_000_000),
      ("0.1e1", 1_000_000_000_000), ("0.123456789012", 123_456_789_012),
      ("0.1234567890129", 123_456_789_012), ("1e-12", 1), ("9e-13", 0), ("1e-99999", 0),
      ("0.999999999999", 999_999_999_999),
    ] as [(String, Int64)] {
      checkEqual(parts(text), value, "\(text)")
    }
    for text in ["2", "1.1", "1.0000000000000000001", "10", "1e1", "-1", "-0.5", "1e99999"] {
      check(parts(text) == nil, "\(text)")
    }
  }
}
