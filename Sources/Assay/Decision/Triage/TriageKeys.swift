/// A set of keys of the input that a trait may name.
struct TriageKeys: OptionSet, Sendable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ field: PurchaseInfo.Field) { rawValue = 1 << UInt32(field.rawValue) }

  /// Keys of the outer list of a transaction receipt.
  static let signature = TriageKeys(rawValue: 1 << 24)
  static let purchaseInfo = TriageKeys(rawValue: 1 << 25)
  /// Attributes 0, 2 and 12 of an app receipt.
  static let receiptType = TriageKeys(rawValue: 1 << 26)
  static let bundleId = TriageKeys(rawValue: 1 << 27)
  static let creationDate = TriageKeys(rawValue: 1 << 28)

  private static let others: [(key: TriageKeys, name: StaticString)] = [
    (.signature, "signature"), (.purchaseInfo, "purchase-info"),
    (.receiptType, "receipt-type"), (.bundleId, "bundle-id"), (.creationDate, "creation-date"),
  ]

  func write(_ prefix: StaticString, _ writer: inout JSONWriter) {
    if isEmpty { return }
    for field in PurchaseInfo.Field.allCases where contains(TriageKeys(field)) {
      writer.string(TriageKeys.trait(prefix, field.name))
    }
    for (key, name) in TriageKeys.others where contains(key) {
      writer.string(TriageKeys.trait(prefix, name))
    }
  }

  private static func trait(_ prefix: StaticString, _ name: StaticString) -> Text {
    Text(Text(stringLiteral: prefix).utf8 + Text(stringLiteral: name).utf8)
  }
}
