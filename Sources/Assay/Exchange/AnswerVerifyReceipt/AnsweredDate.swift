/// A date that verifyReceipt writes three times: as text, in milliseconds, in Pacific time (VRE-25).
struct AnsweredDate {
  fileprivate let text: StaticString
  fileprivate let milliseconds: StaticString
  fileprivate let pacific: StaticString

  private init(_ text: StaticString, _ milliseconds: StaticString, _ pacific: StaticString) {
    self.text = text
    self.milliseconds = milliseconds
    self.pacific = pacific
  }

  static let creation = AnsweredDate(
    "receipt_creation_date", "receipt_creation_date_ms", "receipt_creation_date_pst")
  static let request = AnsweredDate("request_date", "request_date_ms", "request_date_pst")
  static let purchase = AnsweredDate("purchase_date", "purchase_date_ms", "purchase_date_pst")
  static let originalPurchase = AnsweredDate(
    "original_purchase_date", "original_purchase_date_ms", "original_purchase_date_pst")
  static let expires = AnsweredDate("expires_date", "expires_date_ms", "expires_date_pst")
  static let cancellation = AnsweredDate(
    "cancellation_date", "cancellation_date_ms", "cancellation_date_pst")
  static let expiration = AnsweredDate(
    "expiration_date", "expiration_date_ms", "expiration_date_pst")
  static let grace = AnsweredDate(
    "grace_period_expires_date", "grace_period_expires_date_ms", "grace_period_expires_date_pst")
}

/// Members as verifyReceipt writes them: what is not known is left out, never null.
extension JSONWriter {
  /// Writes the three members of a date, in milliseconds since 1970 UTC.
  mutating func date(_ date: AnsweredDate, _ ms: Int64?) {
    guard let ms else { return }
    name(date.text)
    string(utf8: ReceiptDateText.text(ms, zone: ReceiptDateText.utc))
    name(date.milliseconds)
    decimal(ms)
    name(date.pacific)
    string(utf8: ReceiptDateText.text(ms, zone: ReceiptDateText.pacific))
  }

  mutating func present(_ name: StaticString, _ value: Text?) {
    guard let value, !value.isEmpty else { return }
    member(name, value)
  }

  mutating func present(_ name: StaticString, flag: Bool?) {
    guard let flag else { return }
    member(name, flag ? "true" : "false")
  }

  mutating func present(_ name: StaticString, decimal value: Int64?) {
    guard let value else { return }
    self.name(name)
    decimal(value)
  }

  /// Writes a number digit for digit, also beyond 2^53, as Apple does (VRE-28).
  mutating func present(_ name: StaticString, exact value: UInt64?) {
    guard let value else { return }
    self.name(name)
    raw(Text(decimal: value).utf8)
  }

  /// Writes a number that is not negative as text.
  mutating func decimal(_ value: Int64) { string(Text(decimal: UInt64(clamping: value))) }
}
