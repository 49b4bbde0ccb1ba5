/// The two keys of a purchase; neither alone distinguishes the purchase from all others (RPL-1).
struct PurchaseKeys: Sendable {
  let transaction: Text
  let purchase: Text

  /// Creates the keys; `nil` if an id cannot be unique (RPL-3).
  init?(_ purchase: LedgerPurchase) {
    guard let transactionKey = purchase.transactionKey, let key = purchase.purchaseKey else {
      return nil
    }
    transaction = transactionKey
    self.purchase = key
  }
}
