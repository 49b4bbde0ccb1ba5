/// The idempotency keys under which a database remembers a purchase (JWS-94, RPL-1).
///
/// Keys are made from signed ids, never from the text of the evidence, because one purchase has
/// many texts. Every key begins with the environment, or with `unknown` if nothing signed implies
/// one (RCP-28). A key is `nil` if a part is missing, if an id cannot be unique (RPL-3), or if an
/// id has characters that ids do not have, with which a database could take it for another key
/// (APR-25).
enum ReplayKeys {
  /// Returns `<environment>/<transactionId>`, the key of one signed transaction.
  static func transaction(environment: Environment?, transactionId: Text?) -> Text? {
    key(environment, [unique(transactionId, environment)])
  }

  /// Returns the key of a purchase that may be granted once, whatever its transaction id: one
  /// period of an auto-renewable subscription, one non-consumable, or one other purchase.
  ///
  /// - `type`: with `nil`, which includes unknown types, the key is that of one transaction.
  /// - `purchaseDate`: milliseconds since 1970 UTC; replaces an absent web-order-line-item id.
  static func purchase(
    environment: Environment?, type: ProductType?, transactionId: Text?,
    originalTransactionId: Text?, webOrderLineItemId: Text?, purchaseDate: Int64?
  ) -> Text? {
    switch type {
    case .autoRenewable:
      let period =
        isZero(webOrderLineItemId) ? purchaseDate.map { Text("\($0)") } : webOrderLineItemId
      return key(environment, [unique(originalTransactionId, environment), period])
    case .nonConsumable:
      return key(environment, [unique(originalTransactionId, environment)])
    case .consumable, .nonRenewing, nil:
      return transaction(environment: environment, transactionId: transactionId)
    }
  }

  /// Returns `<environment>/<originalTransactionId>`, the key of one subscription, which one
  /// account owns.
  static func subscription(
    environment: Environment?, originalTransactionId: Text?
  ) -> Text? {
    key(environment, [unique(originalTransactionId, environment)])
  }

  /// Returns the id; `nil` if it is empty or zero, or if it has 13 digits or fewer and no
  /// environment qualifies the id (RPL-3).
  private static func unique(_ id: Text?, _ environment: Environment?) -> Text? {
    guard let id, !isZero(id), environment != nil || id.count > 13 else { return nil }
    return id
  }

  private static func isZero(_ id: Text?) -> Bool {
    id.map { $0.utf8.allSatisfy { $0 == 0x30 } } ?? true
  }

  /// The limit of every key's length in bytes, so that a database can index keys (APR-25).
  private static let keyCap = 128
  /// The longest part of a key in bytes, so that three parts and the environment stay below
  /// `keyCap`. A UUID has 36.
  private static let partCap = 48

  /// Whether the part consists of letters, digits, `-`, `_` and `.`, none of which separates
  /// parts.
  private static func isPlain(_ part: Text) -> Bool {
    guard part.count <= partCap else { return false }
    for byte in part.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: continue
      default: return false
      }
    }
    return true
  }

  private static func key(_ environment: Environment?, _ parts: [Text?]) -> Text? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(keyCap)
    (environment?.name ?? "unknown").withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    for part in parts {
      guard let part, isPlain(part) else { return nil }
      bytes.append(0x2f)
      bytes.append(contentsOf: part.utf8)
    }
    return Text(bytes)
  }
}
