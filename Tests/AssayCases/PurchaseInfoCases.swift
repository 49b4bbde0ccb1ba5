import AssayAuthority

extension CaseFixture {
  /// Adds the signed fields of a transaction receipt (RCP-13 … RCP-16).
  func addPurchaseInfoCases() throws {
    try addRequiredFields()
    try addFieldFormats()
    try addFieldDates()
    try addFieldConflicts()
    try addFieldFreedom()
  }

  /// Adds missing fields, and formats of fields (RCP-13).
  private func addRequiredFields() throws {
    let required = [
      "bid", "product-id", "quantity", "transaction-id", "original-transaction-id",
      "purchase-date",
    ]
    for key in required {
      try purchaseInfo(
        "RCP-13", "no \(key)", "malformed.transaction-receipt.field-missing",
        check: "receipt.fields", at: key
      ) { $0.removing(key) }
      try purchaseInfo(
        "RCP-13", "an empty \(key)", "malformed.transaction-receipt.field-missing",
        check: "receipt.fields",
        at: key
      ) { $0.setting(key, "") }
    }
  }

  private func addFieldFormats() throws {
    let long = String(repeating: "p", count: 256)
    let broken: [(String, String, String)] = [
      ("bid", "256 bytes", long), ("product-id", "256 bytes", long),
      ("transaction-id", "21 digits", "200000090000000100001"),
      ("transaction-id", "a letter", "20000009000000o1"),
      ("transaction-id", "a sign", "-2000000900000001"),
      ("transaction-id", "a fraction", "2000000900000001.0"),
      ("original-transaction-id", "21 digits", "200000090000000100001"),
      ("original-transaction-id", "blanks", "2000000 900000001"),
      ("quantity", "zero", "0"), ("quantity", "ten digits", "1000000000"),
      ("quantity", "a sign", "+1"), ("quantity", "a fraction", "1.5"),
      ("quantity", "a word", "one"),
      ("purchase-date-ms", "11 digits", "17943552000"),
      ("purchase-date-ms", "14 digits", "17943552000000"),
      ("purchase-date-ms", "a fraction", "1794355200.00"),
      ("original-purchase-date-ms", "letters", "179435520000x"),
      ("expires-date", "a date text", "2026-12-11 00:00:00 Etc/GMT"),
      ("expires-date", "14 digits", "17969472000000"),
    ]
    for (key, name, value) in broken {
      try purchaseInfo(
        "RCP-13", "\(key) with \(name)", "malformed.transaction-receipt.field-format",
        check: "receipt.fields", at: key
      ) { $0.setting(key, value) }
    }
    try purchaseInfo(
      "RCP-13", "a transaction id of 20 digits", verifier: "unknown-environment",
      facts: [("transactionId", "90000000900000000001")]
    ) {
      $0.setting("transaction-id", "90000000900000000001").setting(
        "original-transaction-id", "90000000900000000001")
    }
    try purchaseInfo("RCP-13", "a quantity of nine digits", facts: [("quantity", 999_999_999)]) {
      $0.setting("quantity", "999999999")
    }
    try purchaseInfo("RCP-13", "a bundle version of a date") { $0.setting("bvrs", "2026-11-21") }
    try purchaseInfo("RCP-13", "unknown keys") {
      $0.appending("price-paid", "9.99").appending("storefront", "USA")
    }
    try purchaseInfo("RCP-13", "an id that is not quoted", "ok") {
      $0.changing("transaction-id") { $0.valueQuote = .bare }
    }
  }

  /// Returns the list with only this spelling of the purchase date.
  private static func dated(_ list: PropertyListText, _ text: String) -> PropertyListText {
    list.removing("purchase-date-ms").removing("purchase-date-pst")
      .setting("purchase-date", text)
  }

  /// Adds forms of dates (RCP-14).
  private func addFieldDates() throws {
    let unreadable: [(String, String)] = [
      ("month 13", "2026-13-11 00:00:00 Etc/GMT"), ("month 0", "2026-00-11 00:00:00 Etc/GMT"),
      ("the 30th of February", "2024-02-30 00:00:00 Etc/GMT"),
      ("the 29th of February in a common year", "2023-02-29 00:00:00 Etc/GMT"),
      ("day 0", "2026-11-00 00:00:00 Etc/GMT"), ("hour 24", "2026-11-10 24:00:00 Etc/GMT"),
      ("minute 60", "2026-11-10 00:60:00 Etc/GMT"), ("second 60", "2026-11-10 00:00:60 Etc/GMT"),
      ("zone GMT", "2026-11-10 00:00:00 GMT"),
      ("a zone in capitals", "2026-11-10 00:00:00 ETC/GMT"),
      ("the zone of Los Angeles", "2026-11-10 00:00:00 America/Los_Angeles"),
      ("no zone", "2026-11-10 00:00:00"), ("the T of ISO 8601", "2026-11-10T00:00:00 Etc/GMT"),
      ("a fraction", "2026-11-10 00:00:00.5 Etc/GMT"), ("text", "yesterday"),
      ("a blank too many", "2026-11-10  00:00:00 Etc/GMT"),
      ("a digit too few", "2026-11-1 00:00:00 Etc/GMT"),
      ("milliseconds", "1794355200000"),
    ]
    for (name, text) in unreadable {
      try purchaseInfo(
        "RCP-14", "a purchase date with \(name)", "malformed.transaction-receipt.field-format",
        check: "receipt.fields", at: "purchase-date"
      ) { Self.dated($0, text) }
    }
    for (name, text) in [
      ("before 2008", "2007-12-31 23:59:59 Etc/GMT"), ("of 2100", "2100-01-01 00:00:00 Etc/GMT"),
      ("of the year 1", "0001-01-01 00:00:00 Etc/GMT"),
      ("of the year 9999", "9999-12-31 23:59:59 Etc/GMT"),
    ] {
      try purchaseInfo(
        "RCP-14", "a purchase date \(name)", "rejected.date.range", check: "receipt.fields"
      ) { Self.dated($0, text) }
    }
    for (name, text, ms) in [
      ("on the 29th of February", "2024-02-29 12:00:00 Etc/GMT", 1_709_208_000_000),
      ("in the last second of a year", "2025-12-31 23:59:59 Etc/GMT", 1_767_225_599_000),
    ] as [(String, String, Int64)] {
      try purchaseInfo(
        "RCP-14", "a purchase \(name), by its text alone", facts: [("purchaseDate", .integer(ms))]
      ) { Self.dated($0, text) }
    }
  }

  /// Adds fields that contradict each other (RCP-15).
  private func addFieldConflicts() throws {
    let bought = purchase.purchaseDate
    let end = purchase.expiresDate ?? 0
    let conflicts: [(String, String, String)] = [
      ("purchase-date a second on", "purchase-date", WrittenDate.gmt(bought + 1000)),
      ("purchase-date-ms a second on", "purchase-date-ms", String(bought + 1000)),
      ("purchase-date-ms a millisecond back", "purchase-date-ms", String(bought - 1)),
      (
        "original-purchase-date a day on", "original-purchase-date",
        WrittenDate.gmt(bought + Purchase.day)
      ),
      (
        "original-purchase-date-ms a second on", "original-purchase-date-ms",
        String(bought + 1000)
      ),
      ("expires-date a month on", "expires-date", String(end + 30 * Purchase.day)),
      (
        "expires-date-formatted a second on", "expires-date-formatted",
        WrittenDate.gmt(end + 1000)
      ),
    ]
    for (name, key, value) in conflicts {
      try purchaseInfo(
        "RCP-15", name, "rejected.transaction-receipt.field-conflict", check: "receipt.fields"
      ) { $0.setting(key, value) }
    }
    func pacific(_ ms: Int64, _ hours: Int64, _ seconds: Int64 = 0) -> String {
      CertificateTime.readable(ms: ms - hours * 3_600_000 + seconds * 1000)
        + " America/Los_Angeles"
    }
    for (key, ms) in [
      ("purchase-date-pst", bought), ("original-purchase-date-pst", bought),
      ("expires-date-formatted-pst", end),
    ] {
      for hours in [7, 8] as [Int64] {
        try purchaseInfo("RCP-15", "\(key) \(hours) hours behind") {
          $0.setting(key, pacific(ms, hours))
        }
      }
      for (name, text) in [
        ("6 hours behind", pacific(ms, 6)), ("9 hours behind", pacific(ms, 9)),
        ("a second off", pacific(ms, 8, 1)), ("not behind", pacific(ms, 0)),
      ] {
        try purchaseInfo(
          "RCP-15", "\(key) \(name)", "rejected.transaction-receipt.field-conflict",
          check: "receipt.fields"
        ) { $0.setting(key, text) }
      }
    }
    try purchaseInfo(
      "RCP-15", "milliseconds within the second", facts: [("purchaseDate", .integer(bought + 868))]
    ) { $0.setting("purchase-date-ms", String(bought + 868)) }
    try purchaseInfo("RCP-15", "an end within the second") {
      $0.setting("expires-date", String(end + 999))
    }
  }

  /// Adds values that must not be refused (RCP-16).
  private func addFieldFreedom() throws {
    try transactionReceipt(
      "RCP-16", "bought first after it was bought",
      of: purchase.with { $0.originalPurchaseDate += 60 * Purchase.day })
    try transactionReceipt(
      "RCP-16", "booked two days ahead", of: purchase.moved(by: 12 * Purchase.day - 3_600_000))
    try transactionReceipt(
      "RCP-16", "another original transaction id",
      of: purchase.with { $0.originalTransactionId = "1000000123456789" })
    try purchaseInfo("RCP-16", "no milliseconds, no Pacific time, no device ids") { list in
      PropertyListText(
        list.entries.filter { entry in
          let key = String(decoding: entry.key, as: UTF8.self)
          return !key.hasSuffix("-ms") && !key.hasSuffix("-pst") && !key.hasPrefix("unique-")
        })
    }
    try purchaseInfo(
      "RCP-16", "the required keys alone",
      facts: [
        ("originalPurchaseDate", .null), ("expiresDate", .null), ("isTrialPeriod", .null),
        ("webOrderLineItemId", .null), ("bundleVersion", .null), ("itemId", .null),
      ]
    ) { list in
      let required = [
        "bid", "product-id", "quantity", "transaction-id", "original-transaction-id",
        "purchase-date",
      ]
      return PropertyListText(
        list.entries.filter { required.contains(String(decoding: $0.key, as: UTF8.self)) })
    }
    try transactionReceipt(
      "RCP-16", "device ids where they are reported", verifier: "device-ids",
      facts: [
        ("uniqueVendorIdentifier", "8F1A2B3C-4D5E-4F60-8A7B-9C0D1E2F3A4B"),
        ("uniqueIdentifier", "0000000000000000000000000000000000000001"),
      ])
  }
}
