/// A verifyReceipt response in either style. Its members can be changed as JSON afterwards.
public struct ReceiptResponseTemplate: Changeable, Sendable {
  public enum Style: String, Sendable, CaseIterable {
    /// The response to a transaction receipt.
    case ios6
    /// The response to an app receipt.
    case ios7
  }

  public var style: Style
  public var status: Int64 = 0
  /// All purchases of the receipt; the iOS 6 style has one.
  public var purchases: [Purchase]
  /// The newest transactions of the subscriptions; `nil` omits them.
  public var latest: [Purchase]?
  /// The receipt with the newest state, in base64.
  public var latestReceipt: [UInt8]?
  /// Apple's time of the response, in milliseconds since 1970 UTC.
  public var requestDate: Int64
  /// Whether the iOS 7 style has `pending_renewal_info`.
  public var renewals = true

  public init(_ style: Style, _ purchases: [Purchase], requestDate: Int64) {
    self.style = style
    self.purchases = purchases
    self.requestDate = requestDate
    let subscriptions = purchases.filter { $0.type == .autoRenewable }
    latest = subscriptions.isEmpty ? nil : subscriptions
  }

  public var json: JSONText { style == .ios6 ? older : newer }

  private var newer: JSONText {
    guard let sample = purchases.first ?? latest?.first else { return ["status": .integer(status)] }
    var answer: JSONText = [
      "receipt": receipt(sample), "environment": .string(sample.environment),
      "status": .integer(status),
    ]
    if let latest {
      answer = answer.appending("latest_receipt_info", .array(latest.map(\.latestEntry)))
    }
    if let latestReceipt {
      answer = answer.appending("latest_receipt", .string(utf8: latestReceipt))
    }
    if renewals, let latest {
      var lines: [Purchase] = []
      for purchase in latest
      where !(lines.contains { $0.originalTransactionId == purchase.originalTransactionId }) {
        lines.append(purchase)
      }
      answer = answer.appending("pending_renewal_info", .array(lines.map(\.renewalEntry)))
    }
    return answer
  }

  /// Returns the decoded app receipt of a response.
  private func receipt(_ sample: Purchase) -> JSONText {
    let isSandbox = sample.environment == "Sandbox"
    let app = isSandbox ? 0 : sample.appAppleId ?? 0
    let creation = sample.wholeSecond(sample.signedDate)
    var receipt: JSONText = [
      "receipt_type": .string(isSandbox ? "ProductionSandbox" : "Production"),
      "adam_id": .integer(app), "app_item_id": .integer(app),
      "bundle_id": .string(sample.bundleId), "application_version": "142",
      "download_id": .integer(isSandbox ? 0 : 500_000_000_000_000_123),
      "version_external_identifier": .integer(isSandbox ? 0 : 814_000_001),
    ]
    receipt.addDate("receipt_creation_date", creation)
    receipt.addDate("request_date", requestDate)
    receipt.addDate("original_purchase_date", 1_375_340_400_000)
    receipt.add("original_application_version", "1.0")
    return receipt.appending("in_app", .array(purchases.map(\.inAppEntry)))
  }

  private var older: JSONText {
    guard let sample = purchases.first else { return ["status": .integer(status)] }
    var answer: JSONText = [
      "receipt": sample.olderEntry, "status": .integer(status),
    ]
    guard sample.type == .autoRenewable else { return answer }
    answer.add("auto_renew_status", sample.autoRenewStatus)
    answer.add("auto_renew_product_id", sample.autoRenewProductId ?? sample.productId)
    answer.add("expiration_intent", sample.expirationIntent.map { String($0) })
    answer.add("is_in_billing_retry_period", sample.isInBillingRetryPeriod.map { $0 ? "1" : "0" })
    if let newest = latest?.first {
      let name = status == 21006 ? "latest_expired_receipt_info" : "latest_receipt_info"
      answer = answer.appending(name, newest.olderEntry)
    }
    if status != 21006, let latestReceipt {
      answer = answer.appending("latest_receipt", .string(utf8: latestReceipt))
    }
    return answer
  }
}

extension JSONText {
  /// Adds a date three times: as text, in milliseconds, in Pacific time.
  mutating func addDate(_ name: String, _ ms: Int64?) {
    guard let ms else { return }
    let second = ms / 1000 * 1000
    add(name, WrittenDate.gmt(second))
    add(name + "_ms", String(second))
    add(name + "_pst", WrittenDate.pacific(second))
  }
}

extension Purchase {
  /// An entry of `in_app`.
  public var inAppEntry: JSONText {
    var entry: JSONText = [
      "quantity": .string(String(quantity)), "product_id": .string(productId),
      "transaction_id": .string(transactionId),
      "original_transaction_id": .string(originalTransactionId),
    ]
    entry.addDate("purchase_date", purchaseDate)
    entry.addDate("original_purchase_date", originalPurchaseDate)
    entry.addDate("expires_date", expiresDate)
    if type == .autoRenewable { entry.add("web_order_line_item_id", webOrderLineItemId) }
    entry.addDate("cancellation_date", revocationDate)
    entry.add("cancellation_reason", revocationReason.map { String($0) })
    entry.add("is_trial_period", isTrial ? "true" : "false")
    if type == .autoRenewable {
      entry.add("is_in_intro_offer_period", isIntroductory && !isTrial ? "true" : "false")
    }
    if offerType == 2 { entry.add("promotional_offer_id", "winter") }
    entry.add("in_app_ownership_type", ownership)
    return entry
  }

  /// An entry of `latest_receipt_info` in the iOS 7 style.
  public var latestEntry: JSONText {
    var entry = inAppEntry
    if isUpgraded == true { entry.add("is_upgraded", "true") }
    if offerType == 3 { entry.add("offer_code_ref_name", "spring") }
    entry.add("subscription_group_identifier", group)
    entry.add("app_account_token", accountToken)
    return entry
  }

  /// An entry of `pending_renewal_info`.
  public var renewalEntry: JSONText {
    var entry: JSONText = [
      "auto_renew_product_id": .string(autoRenewProductId ?? productId),
      "product_id": .string(productId),
      "original_transaction_id": .string(originalTransactionId),
      "auto_renew_status": .string(String(autoRenewStatus)),
    ]
    entry.add("expiration_intent", expirationIntent.map { String($0) })
    entry.add("is_in_billing_retry_period", isInBillingRetryPeriod.map { $0 ? "1" : "0" })
    entry.addDate("grace_period_expires_date", gracePeriodExpiresDate)
    entry.add("price_consent_status", priceIncreaseStatus.map { String($0) })
    return entry
  }

  /// The value of `receipt` and `latest_receipt_info` in the iOS 6 style.
  public var olderEntry: JSONText {
    var entry: JSONText = [
      "original_purchase_date_pst": .string(WrittenDate.pacific(originalPurchaseDate)),
      "quantity": .string(String(quantity)), "bvrs": "1.4.2",
      "bid": .string(bundleId), "product_id": .string(productId), "item_id": .string(itemId),
      "transaction_id": .string(transactionId),
      "original_transaction_id": .string(originalTransactionId),
      "purchase_date": .string(WrittenDate.gmt(wholeSecond(purchaseDate))),
      "purchase_date_ms": .string(String(wholeSecond(purchaseDate))),
      "purchase_date_pst": .string(WrittenDate.pacific(purchaseDate)),
      "original_purchase_date": .string(WrittenDate.gmt(wholeSecond(originalPurchaseDate))),
      "original_purchase_date_ms": .string(String(wholeSecond(originalPurchaseDate))),
    ]
    if let expiresDate {
      let end = wholeSecond(expiresDate)
      entry.add("expires_date", String(end))
      entry.add("expires_date_formatted", WrittenDate.gmt(end))
      entry.add("expires_date_formatted_pst", WrittenDate.pacific(end))
      entry.add("web_order_line_item_id", webOrderLineItemId)
      entry.add("is_trial_period", isTrial ? "true" : "false")
      entry.add("is_in_intro_offer_period", isIntroductory && !isTrial ? "true" : "false")
    }
    if environment == "Production" {
      entry.add("app_item_id", appAppleId.map { String($0) })
      entry.add("version_external_identifier", "814000001")
    }
    entry.addDate("cancellation_date", revocationDate)
    entry.add("cancellation_reason", revocationReason.map { String($0) })
    return entry
  }
}

extension ReceiptAuthority {
  /// Returns a genuine verifyReceipt response about purchases: JSON with the receipt of the
  /// newest state.
  public func answer(
    _ style: ReceiptResponseTemplate.Style, _ purchases: [Purchase], status: Int64 = 0,
    requestDate: Int64
  ) throws -> [UInt8] {
    var response = ReceiptResponseTemplate(style, purchases, requestDate: requestDate)
    response.status = status
    if let newest = response.latest?.first {
      response.latestReceipt = try latestReceipt(style, purchases, newest)
    }
    return response.json.bytes
  }

  private func latestReceipt(
    _ style: ReceiptResponseTemplate.Style, _ purchases: [Purchase], _ newest: Purchase
  ) throws -> [UInt8] {
    switch style {
    case .ios6: return try transactionReceipt(newest)
    case .ios7: return try appReceipt(AppReceiptFacts(purchases, like: newest))
    }
  }
}
