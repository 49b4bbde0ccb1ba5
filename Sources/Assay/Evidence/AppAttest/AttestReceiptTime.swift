/// The times of attest receipts: `YYYY-MM-DDTHH:MM:SS`, optionally a fraction of one to nine
/// digits, then `Z` (FRC-7).
enum AttestReceiptTime {
  /// Returns milliseconds since 1970 UTC, rounded down; `nil` for any other form or a date that
  /// does not exist.
  static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    guard text.count <= 30, text.last == 0x5a else { return nil }
    if text.count <= 24 { return AppReceiptDate.milliseconds(text) }
    // Keeps three digits of the fraction; the rest is finer than a millisecond.
    let kept = text.prefix(23)
    guard text.dropFirst(23).dropLast().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return AppReceiptDate.milliseconds(kept + [0x5a])
  }
}
