/// Receipt formats (docs/spec/receipts.md; docs/spec/app-attest.md §7).
public enum ReceiptKind: Int32, Sendable, CaseIterable {
  /// Old-style, with "purchase-info".
  case transaction = 1
  /// PKCS#7 app receipt.
  case app = 2
  /// Apple's statement about an attested key.
  case attest = 3

  /// As `kind` of a document says it.
  public var name: StaticString {
    switch self {
    case .transaction: return "transaction-receipt"
    case .app: return "app-receipt"
    case .attest: return "attest-receipt"
    }
  }

  var factsMember: StaticString {
    switch self {
    case .transaction: return "transactionReceipt"
    case .app: return "appReceipt"
    case .attest: return "attestReceipt"
    }
  }
}
