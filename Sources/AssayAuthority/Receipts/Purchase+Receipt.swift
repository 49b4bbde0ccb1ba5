extension Purchase {
  /// The signed list of a transaction receipt of this purchase, with the keys of genuine receipts
  /// since 2017.
  public var purchaseInfo: PropertyListText {
    let bought = wholeSecond(purchaseDate)
    let original = wholeSecond(originalPurchaseDate)
    var list = PropertyListText([
      .init("original-purchase-date-pst", WrittenDate.pacific(original)),
      .init("quantity", String(quantity)),
      .init("unique-vendor-identifier", "8F1A2B3C-4D5E-4F60-8A7B-9C0D1E2F3A4B"),
      .init("bvrs", "1.4.2"),
    ])
    func add(_ key: String, _ value: String?) {
      if let value { list = list.appending(key, value) }
    }
    if let expiresDate {
      let end = wholeSecond(expiresDate)
      add("expires-date-formatted", WrittenDate.gmt(end))
      add("is-in-intro-offer-period", isIntroductory && !isTrial ? "true" : "false")
      add("expires-date-formatted-pst", WrittenDate.pacific(end))
      add("is-trial-period", isTrial ? "true" : "false")
      add("expires-date", String(end))
      add("web-order-line-item-id", webOrderLineItemId)
    }
    add("purchase-date-ms", String(bought))
    add("item-id", itemId)
    add("unique-identifier", "0000000000000000000000000000000000000001")
    add("original-transaction-id", originalTransactionId)
    add("bid", bundleId)
    add("product-id", productId)
    add("purchase-date", WrittenDate.gmt(bought))
    add("transaction-id", transactionId)
    if environment == "Production" {
      add("app-item-id", appAppleId.map { String($0) })
      add("version-external-identifier", "814000001")
    }
    add("purchase-date-pst", WrittenDate.pacific(bought))
    add("original-purchase-date", WrittenDate.gmt(original))
    add("original-purchase-date-ms", String(original))
    return list
  }

  /// Apple's number of the product.
  var itemId: String { "1400000001" }
  var isTrial: Bool { offerType == 1 && offerDiscountType == "FREE_TRIAL" }
  var isIntroductory: Bool { offerType == 1 }

  /// The store cluster: the transaction id without its last thirteen digits.
  public var pod: String {
    let digits = transactionId.dropLast(13)
    return digits.isEmpty ? "0" : String(digits)
  }

  func wholeSecond(_ ms: Int64) -> Int64 { ms / 1000 * 1000 }

  /// Returns a copy with every date moved by `ms` milliseconds.
  public func moved(by ms: Int64) -> Purchase {
    with {
      $0.purchaseDate += ms
      $0.originalPurchaseDate += ms
      $0.expiresDate = $0.expiresDate.map { $0 + ms }
      $0.signedDate += ms
    }
  }
}
