/// The two keys of a purchase, of which neither alone tells it from others (RPL-1).
struct PurchaseKeys: Sendable {
  let transaction: Text
  let purchase: Text

  /// nil: an id that cannot be unique (RPL-3).
  init?(_ purchase: StorePurchase) {
    guard let transactionKey = purchase.transactionKey, let key = purchase.purchaseKey else {
      return nil
    }
    transaction = transactionKey
    self.purchase = key
  }
}
