/// The renewal info of one subscription in a response.
struct ResponseRenewal: Sendable {
  let fields: ResponseFields
  /// The original transaction id; `nil` if the response has none and no purchase of the product.
  private(set) var originalTransactionId: Text?
  private(set) var productId: Text?

  /// Reads an entry of `pending_renewal_info`.
  init(
    _ object: JSONValue, at place: ResponsePath, _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    fields = try ResponseFields(object, ResponseMembers.renewal, at: place, &warnings)
    originalTransactionId = fields.id("original_transaction_id")
    productId = fields.productId("product_id")
  }

  /// Reads the renewal info at the top of a response in the iOS 6 style, which belongs to the
  /// submitted purchase; `nil` if none of its members is present.
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
    try self.init(answer, at: ResponsePath(""), &warnings)
    originalTransactionId = receipt.originalTransactionId
    productId = nil
  }

  /// Adds the subscription to entries of older responses, which do not name one: that of the
  /// purchase of the same product whose period ends last.
  static func completed(
    _ renewals: [ResponseRenewal], from transactions: [ResponseTransaction]
  ) -> [ResponseRenewal] {
    guard renewals.contains(where: { $0.isIncomplete }) else { return renewals }
    var lines: [Text: Text] = [:]
    var products: [Text: Text] = [:]
    // Transactions are ordered by their ends: the last one of a product or subscription remains.
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

  /// The customer's consent to a price increase, which two members report: 0 if either one is 0,
  /// not yet answered.
  var priceIncreaseStatus: Int64? {
    let increase = fields.number("price_increase_status")
    let consent = fields.number("price_consent_status")
    return increase == 0 || consent == 0 ? 0 : increase ?? consent
  }
}
