/// Inputs that Apple never signed: texts that cracking programs send, and lists without a
/// receipt.
public enum ForgedReceipt {
  /// Returns the text that a well-known cracking program posts, with its counter.
  public static func cracker(_ number: Int64) -> [UInt8] {
    Array("com.urus.iap.\(number)".utf8)
  }

  /// The texts that other programs post in place of a receipt.
  public static let phrases = ["receipt-data", "hello world", "free coins please", "1234567890"]

  /// Returns a property list without the two keys of a receipt.
  public static func emptyList(_ purchase: Purchase) -> [UInt8] {
    PropertyListText([
      .init("product-id", purchase.productId), .init("environment", "Production"),
      .init("signing-status", "0"),
    ]).bytes
  }
}
