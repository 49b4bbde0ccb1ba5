/// The keys under which a store remembers a purchase (JWS-94, RPL-1).
///
/// They are made from signed ids, never from the text of the evidence, of which
/// one purchase has many forms. Every key begins with the environment. A key
/// with a part missing, or an id that cannot be unique (RPL-3), is nil.
enum ReplayKeys {
  /// `<environment>/<transactionId>`: one signed transaction.
  static func transaction(environment: Environment?, transactionId: Text?) -> Text? {
    key(environment, [unique(transactionId)])
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
      let period = unique(webOrderLineItemId) ?? purchaseDate.map { Text("\($0)") }
      return key(environment, [unique(originalTransactionId), period])
    case .nonConsumable:
      return key(environment, [unique(originalTransactionId)])
    case .consumable, .nonRenewing, nil:
      return transaction(environment: environment, transactionId: transactionId)
    }
  }

  /// `<environment>/<originalTransactionId>`: one line, which one account owns.
  static func subscription(
    environment: Environment?, originalTransactionId: Text?
  ) -> Text? {
    key(environment, [unique(originalTransactionId)])
  }

  /// RPL-3: an id that is empty or zero names nothing.
  private static func unique(_ id: Text?) -> Text? {
    guard let id, !id.utf8.allSatisfy({ $0 == 0x30 }) else { return nil }
    return id
  }

  private static func key(_ environment: Environment?, _ parts: [Text?]) -> Text? {
    guard let environment else { return nil }
    var bytes = Text(stringLiteral: environment.name).utf8
    for part in parts {
      guard let part else { return nil }
      bytes.append(0x2f)
      bytes.append(contentsOf: part.utf8)
    }
    return Text(bytes)
  }
}
