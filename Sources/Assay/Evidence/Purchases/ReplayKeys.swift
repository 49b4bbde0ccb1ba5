/// The keys under which a store remembers a purchase (JWS-94, RPL-1).
///
/// They are made from signed ids, never from the text of the evidence, of which
/// one purchase has many forms. Every key begins with the environment, or with
/// `unknown` where nothing that is signed shows one (RCP-28). A key with a part
/// missing, or an id that cannot be unique (RPL-3), is nil; so is one with an id
/// of characters that ids do not have, since a store would take it for another key
/// (APR-25).
enum ReplayKeys {
  /// `<environment>/<transactionId>`: one signed transaction.
  static func transaction(environment: Environment?, transactionId: Text?) -> Text? {
    key(environment, [unique(transactionId, environment)])
  }

  /// What may be paid out once, whatever the transaction id: one period of an
  /// auto-renewable subscription, one non-consumable, one other purchase.
  ///
  /// - `type` nil, or a type that Assay does not know, is keyed as one purchase.
  /// - `purchaseDate`: milliseconds since 1970 UTC; stands in for an absent
  ///   web-order-line-item id.
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

  /// `<environment>/<originalTransactionId>`: one line, which one account owns.
  static func subscription(
    environment: Environment?, originalTransactionId: Text?
  ) -> Text? {
    key(environment, [unique(originalTransactionId, environment)])
  }

  /// RPL-3: an id that is empty or zero names nothing, nor does one of 13 digits or
  /// fewer if no environment says whose it is.
  private static func unique(_ id: Text?, _ environment: Environment?) -> Text? {
    guard let id, !isZero(id), environment != nil || id.count > 13 else { return nil }
    return id
  }

  private static func isZero(_ id: Text?) -> Bool {
    id.map { $0.utf8.allSatisfy { $0 == 0x30 } } ?? true
  }

  /// Every key is shorter, so that a store may index it (APR-25).
  private static let keyCap = 128
  /// The longest part of a key, so that three of them with their environment stay
  /// below that. A UUID has 36.
  private static let partCap = 48

  /// Letters, digits, `-`, `_` and `.`: nothing that parts a key or a line.
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
