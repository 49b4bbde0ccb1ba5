import AssayAuthority
import Testing

@testable import Assay

@Suite("Purchase info")
struct PurchaseInfoTests {
  /// 2026-11-21 00:00:00 UTC.
  private static let now: Int64 = Minted.now
  private static let good = Purchase(now: now).purchaseInfo

  private func info(_ text: PropertyListText) throws -> PurchaseInfo {
    PurchaseInfo(try PropertyList(text.bytes, limits: .info))
  }

  /// Returns the status and location of the refusal; ok if there is none.
  private func asked(_ text: PropertyListText) throws -> (status: Status, place: String) {
    do throws(Refusal) {
      try PurchaseInfo(try PropertyList(text.bytes, limits: .info)).check()
      return (.ok, "")
    } catch {
      return (error.status, error.place)
    }
  }

  private func faults(_ text: PropertyListText) throws -> [PurchaseInfo.Fault] {
    try info(text).faults
  }

  @Test("RCP-13 every field is found by its key")
  func fields() throws {
    let text = PropertyListText(
      PurchaseInfo.Field.allCases.map { .init("\($0.name)", "value of \($0.name)") })
    let read = try info(text)
    for field in PurchaseInfo.Field.allCases {
      checkEqual(read.text(field), Text("value of \(field.name)"))
      // A key that differs in one letter is a different one.
      var key = "\(field.name)"
      key.removeLast()
      try check(info(PropertyListText([.init(key + "X", "a")])).text(field) == nil)
    }
  }

  @Test("RCP-16 keys that are not required")
  func optional() throws {
    let required = [
      "bid", "product-id", "quantity", "transaction-id", "original-transaction-id",
      "purchase-date",
    ]
    for entry in Self.good.entries {
      let key = String(decoding: entry.key, as: UTF8.self)
      if required.contains(key) { continue }
      try checkEqual(asked(Self.good.removing(key)).status, .ok, "\(key)")
      try checkEqual(asked(Self.good.setting(key, "")).status, .ok, "\(key)")
    }
    try checkEqual(asked(Self.good.setting("something-new", "x")).status, .ok)
  }

  @Test(
    "RCP-13 formats",
    arguments: [
      ("bid", String(repeating: "b", count: 256), String(repeating: "b", count: 255)),
      ("product-id", String(repeating: "p", count: 256), String(repeating: "p", count: 255)),
      ("quantity", "1000000000", "999999999"), ("quantity", "0", "1"), ("quantity", "-1", "7"),
      ("quantity", "1.0", "10"), ("quantity", "0x1", "01"), ("quantity", "000000000", "000000001"),
      ("transaction-id", "123456789012345678901", "12345678901234567890"),
      ("transaction-id", "2000000900000001a", "2000000900000001"),
      ("transaction-id", "02000000900000001", "0"), ("transaction-id", "2e15", "215"),
      ("original-transaction-id", "00", "0"), ("original-transaction-id", "1/2", "12"),
      ("original-transaction-id", "1:2", "12"),
      ("item-id", "12a", "12"), ("app-item-id", "123456789012345678901", "007"),
      ("version-external-identifier", "1.0", "0"), ("web-order-line-item-id", "x", "0"),
      ("is-trial-period", "TRUE", "true"), ("is-trial-period", "1", "false"),
      ("is-in-intro-offer-period", "no", "true"),
    ])
  func formats(_ key: String, _ wrong: String, _ right: String) throws {
    let refused = try asked(Self.good.setting(key, wrong))
    checkEqual(refused.status, .malformedTransactionReceiptFieldFormat)
    checkEqual(refused.place, key)
    try checkEqual(asked(Self.good.setting(key, right)).status, .ok)
  }

  @Test("RCP-13 a number is one to eighteen digits")
  func numbers() {
    func number(_ text: String) -> Int64? { PurchaseInfo.decimal(utf8(text)[...]) }
    checkEqual(number("0"), 0)
    checkEqual(number("007"), 7)
    checkEqual(number(String(repeating: "9", count: 18)), 999_999_999_999_999_999)
    for wrong in ["", String(repeating: "1", count: 19), "-1", "1 ", "1:", "/1"] {
      check(number(wrong) == nil, "\(wrong)")
    }
  }

  @Test("RCP-14 dates are read by fixed positions")
  func dateForms() {
    func seconds(_ text: String) -> Int64? {
      ReceiptDateText.seconds(utf8(text)[...], zone: ReceiptDateText.utc)
    }
    checkEqual(seconds("1970-01-01 00:00:00 Etc/GMT"), 0)
    checkEqual(seconds("2012-04-30 15:05:55 Etc/GMT"), 1_335_798_355)
    checkEqual(seconds("2024-02-29 23:59:59 Etc/GMT"), 1_709_251_199)
    checkEqual(seconds("2000-02-29 00:00:00 Etc/GMT"), 951_782_400)
    for wrong in [
      "", "2012", "2012-04-30", "2012-04-30 15:05:55", "2012-04-30 15:05:55 ",
      "2012-04-30 15:05:55 GMT", "2012-04-30 15:05:55 Etc/GM", "2012-04-30 15:05:55 Etc/GMT ",
      "2012-04-30 15:05:55 Etc/UTC", "2012-04-30 15:05:55 etc/gmt",
      "2012-04-30 15:05:55 America/Los_Angeles", "2012-04-30T15:05:55 Etc/GMT",
      "2012/04-30 15:05:55 Etc/GMT", "2012-04/30 15:05:55 Etc/GMT",
      "2012-04-30 15.05:55 Etc/GMT", "2012-04-30 15:05.55 Etc/GMT",
      "2012-04-30 15:05:55-Etc/GMT", "2012-4-30 15:05:555 Etc/GMT",
      "2012-00-30 15:05:55 Etc/GMT", "2012-13-30 15:05:55 Etc/GMT",
      "2012-04-00 15:05:55 Etc/GMT", "2012-04-31 15:05:55 Etc/GMT",
      "2023-02-29 15:05:55 Etc/GMT", "2100-02-29 15:05:55 Etc/GMT",
      "2012-04-30 24:05:55 Etc/GMT", "2012-04-30 15:60:55 Etc/GMT",
      "2012-04-30 15:05:60 Etc/GMT", "-012-04-30 15:05:55 Etc/GMT",
      "20:2-04-30 15:05:55 Etc/GMT", "2012-0x-30 15:05:55 Etc/GMT",
      "2012-04-3/ 15:05:55 Etc/GMT", "2012-04-30 1a:05:55 Etc/GMT",
      "2012-04-30 15:0-:55 Etc/GMT", "2012-04-30 15:05:5a Etc/GMT",
    ] {
      check(seconds(wrong) == nil, "\(wrong)")
    }
    // The date is a slice in the middle of other bytes.
    let text = utf8("xx2012-04-30 15:05:55 Etc/GMTxx")
    checkEqual(ReceiptDateText.seconds(text[2..<29], zone: ReceiptDateText.utc), 1_335_798_355)
    check(ReceiptDateText.seconds(text[2..<30], zone: ReceiptDateText.utc) == nil)
  }

  @Test(
    "RCP-14 an invalid date text",
    arguments: [
      "purchase-date", "purchase-date-pst", "original-purchase-date",
      "original-purchase-date-pst", "expires-date-formatted", "expires-date-formatted-pst",
    ])
  func dateFields(_ key: String) throws {
    let refused = try asked(Self.good.setting(key, "2026-11-31 00:00:00 Etc/GMT"))
    checkEqual(refused.status, .malformedTransactionReceiptFieldFormat)
    checkEqual(refused.place, key)
  }

  @Test("RCP-14 dates lie in 2008 to 2100")
  func dateRange() throws {
    let bare = Self.good.removing("purchase-date-ms").removing("purchase-date-pst")
    for (date, isGood) in [
      ("2007-12-31 23:59:59", false), ("2008-01-01 00:00:00", true),
      ("2099-12-31 23:59:59", true), ("2100-01-01 00:00:00", false),
      ("0000-01-01 00:00:00", false), ("9999-12-31 23:59:59", false),
    ] {
      let answer = try asked(bare.setting("purchase-date", date + " Etc/GMT"))
      checkEqual(answer.status, (isGood ? .ok : .rejectedDateRange), "\(date)")
      checkEqual(answer.place, (isGood ? "" : "purchase-date"))
    }
    let undated = Self.good.removing("original-purchase-date")
      .removing("original-purchase-date-pst")
    for (ms, isGood) in [
      ("100000000000", false), ("1199145599999", false), ("1199145600000", true),
      ("4102444799999", true), ("4102444800000", false), ("9999999999999", false),
    ] {
      let answer = try asked(undated.setting("original-purchase-date-ms", ms))
      checkEqual(answer.status, (isGood ? .ok : .rejectedDateRange), "\(ms)")
    }
  }

  @Test(
    "RCP-15 without the date the local one is compared with the milliseconds",
    arguments: [
      ("original-purchase-date-ms", "original-purchase-date", "original-purchase-date-pst"),
      ("expires-date", "expires-date-formatted", "expires-date-formatted-pst"),
    ])
  func consistency(_ ms: String, _ utc: String, _ pst: String) throws {
    let text = try require(Self.good[ms])
    let instant = try require(Int64(text))
    func status(_ changes: [(String, String)]) throws -> Status {
      try asked(changes.reduce(Self.good) { $0.setting($1.0, $1.1) }).status
    }
    func at(_ hours: Int64) -> String {
      let moved = WrittenDate.gmt(instant - hours * 3_600_000)
      return String(moved.dropLast(8)) + " America/Los_Angeles"
    }
    try checkEqual(status([(utc, ""), (pst, at(8))]), .ok)
    try checkEqual(status([(utc, ""), (pst, at(9))]), .rejectedTransactionReceiptFieldConflict)
    try checkEqual(status([(utc, ""), (ms, ""), (pst, at(9))]), .ok)
  }

  @Test("RPL-3 web-order-line-item id 0 counts as absent")
  func webOrderZero() throws {
    try check(info(Self.good.setting("web-order-line-item-id", "0")).webOrderLineItemId == nil)
  }

  @Test("faults are listed for triage, and refuse nothing there")
  func traits() throws {
    var text = Self.good.removing("bid").setting("quantity", "x")
      .setting("purchase-date-ms", "1795219200001")
    text = text.changing("item-id") { $0.valueQuote = .bare }
    let found = try faults(text)
    check(found.contains(.init(kind: .missing, field: .bid)))
    check(found.contains(.init(kind: .format, field: .quantity)))
    check(found.contains(.init(kind: .conflict, field: .purchaseDateMs)))
    check(found.contains(.init(kind: .bare, field: .itemId)))
    checkEqual(found.count, 4)
    // In a signed list, a value without quotation marks is the only tolerated fault.
    let bare = Self.good.changing("quantity") { $0.valueQuote = .bare }
    try checkEqual(asked(bare).status, .ok)
    try checkEqual(faults(bare), [.init(kind: .bare, field: .quantity)])
  }

  @Test("no truncated and no changed list ends the process")
  func hostile() {
    let bytes = Self.good.bytes
    var read = 0
    for at in bytes.indices {
      for mask in [1, 0x10, 0x40, 0x80] as [UInt8] {
        var other = bytes
        other[at] ^= mask
        guard let list = try? PropertyList(other, limits: .info) else { continue }
        read += 1
        let info = PurchaseInfo(list)
        for field in PurchaseInfo.Field.allCases { check(info.value(field)?.isEmpty != true) }
      }
    }
    check(read > bytes.count)
  }
}
