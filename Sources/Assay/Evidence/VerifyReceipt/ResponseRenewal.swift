/// What an answer says about the renewal of one line.
struct ResponseRenewal: Sendable {
  let fields: ResponseFields
  /// nil: the answer does not say, and no purchase in it has the product.
  private(set) var originalTransactionId: Text?
  private(set) var productId: Text?

  /// An entry of `pending_renewal_info`.
  init(
    _ object: JSONValue, at place: ResponsePlace, _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    fields = try ResponseFields(object, ResponseMembers.renewal, at: place, &warnings)
    originalTransactionId = fields.id("original_transaction_id")
    productId = fields.productId("product_id")
  }

  /// The members at the top of an answer of the iOS 6 style, which are about the
  /// purchase that was asked for; nil when it has none of them.
  init?(
    topOf answer: JSONValue, about receipt: ResponseTransaction,
    _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    var hasAny = false
    for name in [
      "auto_renew_status", "auto_renew_product_id", "expiration_intent",
      "is_in_billing_retry_period",
    ] as [StaticString] where answer.present(name) != nil {
      hasAny = true
    }
    guard hasAny else { return nil }
    try self.init(answer, at: ResponsePlace(""), &warnings)
    originalTransactionId = receipt.originalTransactionId
    productId = nil
  }

  /// Older answers do not name the line: it is that of the purchase of the same
  /// product which ends last.
  static func completed(
    _ renewals: [ResponseRenewal], from transactions: [ResponseTransaction]
  ) -> [ResponseRenewal] {
    guard renewals.contains(where: { $0.isIncomplete }) else { return renewals }
    var lines: [Text: Text] = [:]
    var products: [Text: Text] = [:]
    // Ordered by their ends: the last one of a product or line stays.
    for entry in transactions {
      lines[entry.productId] = entry.originalTransactionId
      products[entry.originalTransactionId] = entry.productId
    }
    return renewals.map { renewal in
      var complete = renewal
      if complete.originalTransactionId == nil {
        complete.originalTransactionId = renewal.productId.flatMap { lines[$0] }
      }
      if complete.productId == nil {
        complete.productId = complete.originalTransactionId.flatMap { products[$0] }
      }
      return complete
    }
  }

  private var isIncomplete: Bool { originalTransactionId == nil || productId == nil }

  /// 0: asked and not answered, by either of the two members that say so.
  var priceIncreaseStatus: Int64? {
    let increase = fields.number("price_increase_status")
    let consent = fields.number("price_consent_status")
    return increase == 0 || consent == 0 ? 0 : increase ?? consent
  }
}
