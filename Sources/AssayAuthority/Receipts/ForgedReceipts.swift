/// What no store has signed: texts of cracking programs, and the receipts that a
/// forgery service signs with its own certificate.
public enum ForgedReceipt {
  /// The text that a well-known cracking program posts, with its counter.
  public static func cracker(_ number: Int64) -> [UInt8] {
    Array("com.urus.iap.\(number)".utf8)
  }

  /// Texts that other programs post in place of a receipt.
  public static let phrases = ["receipt-data", "hello world", "free coins please", "1234567890"]

  /// A list without any of the two keys that a receipt consists of.
  public static func emptyList(_ purchase: Purchase) -> [UInt8] {
    PropertyListText([
      .init("product-id", purchase.productId), .init("environment", "Production"),
      .init("signing-status", "0"),
    ]).bytes
  }
}
