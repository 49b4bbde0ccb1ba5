import Foundation
import Testing

@testable import Assay

@Suite("Civil dates")
struct CivilDateTests {
  @Test("JWS-32 every day of 1950 to 2100, counted one by one")
  func everyDay() {
    // Counts forward with a table of months, without any division.
    let months: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    let leaps = Set(stride(from: 1952, through: 2096, by: 4).map { Int64($0) })
    var day: Int64 = -7305
    for year: Int64 in 1950...2100 {
      checkEqual(CivilDate.isLeap(year), leaps.contains(year))
      for month: Int64 in 1...12 {
        let length = months[Int(month - 1)] + (month == 2 && leaps.contains(year) ? 1 : 0)
        checkEqual(CivilDate.daysInMonth(year: year, month: month), length)
        for date in 1...length {
          if CivilDate.days(year: year, month: month, day: date) != day
            || CivilDate.date(days: day) != (year, month, date)
          {
            Issue.record("\(year)-\(month)-\(date)")
          }
          day += 1
        }
      }
    }
    checkEqual(day, 47_847)
    checkEqual(CivilDate.days(year: 1970, month: 1, day: 1), 0)
  }

  @Test("JWS-32 the centuries, and the ends of the ASN.1 range")
  func centuries() {
    for (year, isLeap) in [
      (1900, false), (2000, true), (2100, false), (2400, true), (0, true), (9999, false),
    ] {
      checkEqual(CivilDate.isLeap(Int64(year)), isLeap)
    }
    checkEqual(CivilDate.days(year: 0, month: 1, day: 1), -719_528)
    checkEqual(CivilDate.days(year: 9999, month: 12, day: 31), 2_932_896)
    check(CivilDate.date(days: 2_932_896) == (9999, 12, 31))
    check(CivilDate.date(days: -719_528) == (0, 1, 1))
  }

  private func seconds(_ text: String) -> Int64? {
    CivilDate.seconds(asn1: utf8(text)[...], yearDigits: text.utf8.count - 11)
  }

  @Test("JWS-32 seconds agree with Foundation")
  func seconds() throws {
    let form = DateFormatter()
    form.calendar = Calendar(identifier: .gregorian)
    form.locale = Locale(identifier: "en_US_POSIX")
    form.timeZone = TimeZone(secondsFromGMT: 0)
    form.dateFormat = "yyyyMMddHHmmss'Z'"
    var time: Int64 = -631_152_000
    while time < 4_102_444_800 {
      let text = form.string(from: Date(timeIntervalSince1970: Double(time)))
      checkEqual(seconds(text), time, "\(text)")
      time += 86_400 * 97 + 12_347
    }
  }

  @Test(
    "JWS-32 UTCTime and GeneralizedTime",
    arguments: [
      ("140430181906Z", 1_398_881_946), ("390430181906Z", 2_187_800_346), ("700101000000Z", 0),
      ("500101000000Z", -631_152_000), ("491231235959Z", 2_524_607_999),
      ("991231235959Z", 946_684_799), ("000229000000Z", 951_782_400),
      ("20140430181906Z", 1_398_881_946), ("20500101000000Z", 2_524_608_000),
      ("99991231235959Z", 253_402_300_799), ("00000101000000Z", -62_167_219_200),
      ("19000228000000Z", -2_203_977_600),
    ] as [(String, Int64)])
  func forms(text: String, expected: Int64) {
    checkEqual(seconds(text), expected)
  }

  @Test(
    "JWS-32 dates that do not exist and invalid forms",
    arguments: [
      "140001000000Z", "141301000000Z", "140100000000Z", "140132000000Z", "140229000000Z",
      "140431000000Z", "140101240000Z", "140101006000Z", "140101000060Z", "19000229000000Z",
      "21000229000000Z", "140101000000", "140101000000z", "140101000000+", "1401010000Z",
      "1401010000000", "14010100000.Z", "+40101000000Z", "14010100000 Z", "14a101000000Z",
      "140101000000+0000", "20140101000000.5Z", "", "Z", "2014010100000ZZ",
    ])
  func refused(text: String) {
    for digits in [2, 4] {
      check(CivilDate.seconds(asn1: utf8(text)[...], yearDigits: digits) == nil)
    }
  }
}
