/// The kinds of receipts (docs/spec/receipts.md; docs/spec/app-attest.md §7).
public enum ReceiptKind: Int32, Sendable, CaseIterable {
  /// A transaction receipt: a property list with "purchase-info".
  case transaction = 1
  /// An app receipt, in PKCS#7.
  case app = 2
  /// An attest receipt, in PKCS#7: Apple's statement about an attested key.
  case attest = 3

  /// The value of `kind` in documents.
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
