/// The times of App Attest receipts: `YYYY-MM-DDTHH:MM:SS`, a fraction of one to
/// nine digits or none, `Z` (FRC-7).
enum AttestReceiptTime {
  /// Milliseconds since 1970 UTC, with anything finer cut off; nil for any other form
  /// or a date that does not exist.
  static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    guard text.count <= 30, text.last == 0x5a else { return nil }
    if text.count <= 24 { return AppReceiptDate.milliseconds(text) }
    // The first three digits of the fraction are those that count.
    let kept = text.prefix(23)
    guard text.dropFirst(23).dropLast().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return AppReceiptDate.milliseconds(kept + [0x5a])
  }
}
