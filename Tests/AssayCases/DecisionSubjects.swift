import AssayAuthority

/// Evidence that the decision cases of several subjects use.
extension CaseFixture {
  static let standardProduct = "com.example.app.standard.monthly"

  var denied: String { "rejected.decision.not-entitled" }

  /// The end of the good subscription.
  var end: Int64 { purchase.expiresDate ?? now }

  /// Returns the instant `days` days from now, as the lists of findings count.
  func day(_ days: Int64) -> Int64 { now + days * Purchase.day }

  func outcome(_ state: String, _ row: String, _ more: Facts = []) -> Facts {
    [("/kind", "decision"), ("state", .text(state)), ("rule", .text(row))] + more
  }

  /// Returns a paid period in Production from one day to another, signed when it began.
  func period(
    _ id: Int64, line: Int64? = nil, of product: String = CaseFixture.standardProduct,
    _ from: Int64, _ to: Int64, _ change: (inout Purchase) -> Void = { _ in }
  ) -> Purchase {
    production.with {
      $0.transactionId = String(180_000_900_000_000 + id)
      $0.originalTransactionId = String(180_000_900_000_000 + (line ?? id))
      $0.webOrderLineItemId = String(180_000_090_000_000 + id)
      $0.productId = product
      $0.purchaseDate = day(from)
      $0.originalPurchaseDate = day(from)
      $0.expiresDate = day(to)
      $0.signedDate = min(day(from), now - 60_000)
      change(&$0)
    }
  }

  /// Returns a paid period of the premium plan.
  func premium(
    _ id: Int64, line: Int64? = nil, _ from: Int64, _ to: Int64,
    _ change: (inout Purchase) -> Void = { _ in }
  ) -> Purchase {
    period(id, line: line, of: "com.example.app.premium.monthly", from, to, change)
  }

  /// Returns a verifyReceipt response with only `in_app`, which has neither `is_upgraded` nor
  /// `app_account_token`, and here no `in_app_ownership_type`.
  func inAppAnswer(_ purchase: Purchase, requestDate: Int64) -> EvidenceCase.Evidence {
    var response = ReceiptResponseTemplate(.ios7, [purchase], requestDate: requestDate)
    response.latest = nil
    response.renewals = false
    let entry = purchase.inAppEntry.removing("in_app_ownership_type")
    return .init(.answer(response.json.setting("receipt.in_app", .array([entry])).bytes))
  }

  /// Returns a verifyReceipt response in the iOS 6 style, which has no request date either.
  func flatAnswer(_ purchase: Purchase) -> EvidenceCase.Evidence {
    let response = ReceiptResponseTemplate(.ios6, [purchase], requestDate: now)
    return .init(.answer(response.json.bytes))
  }

  func answer(
    _ purchases: [Purchase], requestDate: Int64, isDated: Bool = true
  ) -> EvidenceCase.Evidence {
    let response = ReceiptResponseTemplate(.ios7, purchases, requestDate: requestDate)
    let dates = ["", "_ms", "_pst"].map { "receipt.request_date" + $0 }
    return .init(.answer((isDated ? response.json : response.json.removing(dates)).bytes))
  }
}
