/// One transaction as verifyReceipt writes it, from whatever form of evidence (VRE-30). Dates are
/// milliseconds since 1970 UTC; `nil` if the evidence does not state the member.
struct AnsweredTransaction {
  var transactionId: Text
  var originalTransactionId: Text?
  var productId: Text
  var quantity: Text
  var purchaseDate: Int64?
  var originalPurchaseDate: Int64?
  var expiresDate: Int64?
  var webOrderLineItemId: Text?
  var isTrial: Bool?
  var isIntro: Bool?
  var promotionalOfferId: Text?
  var offerCodeName: Text?
  var cancellationDate: Int64?
  var cancellationReason: Text?
  var isUpgraded: Bool?
  var ownership: Text?
  var group: Text?
  var account: Text?
  var isSubscription: Bool
  /// Whether the evidence could report an offer code and a group, so that their absence is known.
  var isWhole = false
  /// Whether the evidence states that there is a cancellation, or that there is none (DCD-3).
  var tellsCancellation: Bool
  /// The moment whose state the evidence reports, in milliseconds since 1970 UTC.
  var asOfMs: Int64

  /// The id of the first transaction of the subscription, or of a purchase its own.
  var line: Text { originalTransactionId ?? transactionId }

  // MARK: forms of evidence

  /// Takes a purchase of an app receipt.
  init(
    _ purchase: ReceiptAttributes.Purchase, _ attributes: ReceiptAttributes, asOfMs: Int64
  ) {
    transactionId = attributes.text(purchase.transactionId)
    originalTransactionId = attributes.text(purchase.originalTransactionId)
    productId = attributes.text(purchase.productId)
    quantity = Text(decimal: purchase.quantity ?? 1)
    purchaseDate = purchase.purchaseDate
    originalPurchaseDate = purchase.originalPurchaseDate
    expiresDate = purchase.expiresDate
    webOrderLineItemId = purchase.webOrderLineItemId.map { Text(decimal: $0) }
    isTrial = purchase.isTrialPeriod
    isIntro = purchase.isInIntroOfferPeriod
    promotionalOfferId = attributes.text(purchase.promotionalOfferId)
    cancellationDate = purchase.cancellationDate
    // Without a date, 0 may be a filler (docs/spec/receipts.md §3.4).
    if purchase.cancellationDate != nil {
      cancellationReason = purchase.cancellationReason.map { Text(decimal: $0) }
    }
    isSubscription =
      ProductType(attribute: purchase.type) == .autoRenewable || purchase.expiresDate != nil
    tellsCancellation = purchase.cancellationDate != nil
    self.asOfMs = asOfMs
  }

  /// Takes the purchase of a transaction receipt.
  init(_ info: PurchaseInfo) {
    transactionId = info.text(.transactionId) ?? ""
    originalTransactionId = info.text(.originalTransactionId)
    productId = info.text(.productId) ?? ""
    quantity = info.text(.quantity) ?? "1"
    purchaseDate = info.purchaseDateMs
    originalPurchaseDate = info.originalPurchaseDateMs
    expiresDate = info.expiresDateMs
    webOrderLineItemId = info.webOrderLineItemId
    isTrial = info.isTrialPeriod
    isIntro = info.isInIntroOfferPeriod
    isSubscription = info.expiresDateMs != nil
    tellsCancellation = false
    asOfMs = info.purchaseDateMs ?? 0
  }

  /// Takes a signed transaction; `nil` if it lacks one of its ids.
  init?(_ payload: SignedPayload) {
    guard let facts = try? payload.purchaseFacts() else { return nil }
    transactionId = facts.transactionId
    originalTransactionId = facts.originalTransactionId
    productId = facts.productId
    quantity = Text(decimal: UInt64(clamping: facts.quantity))
    purchaseDate = facts.start
    originalPurchaseDate = payload.time("originalPurchaseDate")
    expiresDate = facts.end
    webOrderLineItemId = facts.webOrderLineItemId
    let offer = facts.offerType
    // A JWS of before October 2023 has no offerDiscountType, and tells neither (VRE-32).
    if offer != 1 || facts.offerDiscountType != nil {
      let isFree = offer == 1 && facts.offerDiscountType == "FREE_TRIAL"
      isTrial = isFree
      isIntro = offer == 1 && !isFree
    }
    promotionalOfferId = offer == 2 ? payload.text("offerIdentifier") : nil
    offerCodeName = offer == 3 ? payload.text("offerIdentifier") : nil
    cancellationDate = facts.revokedAtMs
    if facts.revokedAtMs != nil {
      cancellationReason = facts.revocationReason.map { Text(decimal: UInt64(clamping: $0)) }
    }
    isUpgraded = facts.isUpgraded
    ownership = facts.ownership
    group = facts.group
    account = facts.account
    isSubscription = facts.type == .autoRenewable || facts.end != nil
    isWhole = true
    tellsCancellation = true
    asOfMs = facts.asOfMs
  }

  /// Takes an entry of an answer of Apple's that the host has kept.
  init(_ entry: ResponseTransaction, of response: ReceiptResponse) {
    let fields = entry.fields
    transactionId = entry.transactionId
    originalTransactionId = entry.originalTransactionId
    productId = entry.productId
    quantity = fields.number("quantity").map { Text(decimal: UInt64(clamping: $0)) } ?? "1"
    purchaseDate = entry.start
    originalPurchaseDate = fields.time("original_purchase_date")
    expiresDate = entry.end
    webOrderLineItemId = fields.id("web_order_line_item_id")
    isTrial = fields.flag("is_trial_period")
    isIntro = fields.flag("is_in_intro_offer_period")
    promotionalOfferId = fields.text("promotional_offer_id")
    offerCodeName = fields.text("offer_code_ref_name")
    cancellationDate = entry.revokedAtMs
    let reason = fields.number("cancellation_reason")
    if cancellationDate == nil, reason != nil { cancellationDate = response.clock.asOfMs }
    cancellationReason = reason.map { Text(decimal: UInt64(clamping: $0)) }
    isUpgraded = fields["is_upgraded"].map { _ in entry.isUpgraded }
    ownership = fields.text("in_app_ownership_type")
    group = fields.text("subscription_group_identifier")
    account = entry.account
    isSubscription = entry.end != nil
    isWhole = response.style == .ios7 && entry.source != .receipt
    // An answer of unknown time takes back no cancellation (RFD-5).
    tellsCancellation = cancellationDate != nil || response.clock.requestDate != nil
    asOfMs = response.clock.asOfMs
  }

  // MARK: merging

  /// Merges statements about one transaction: the newest counts, and what it does not state comes
  /// from the newest that does (VRE-22, DCD-3). Of one moment, the one that grants less counts.
  /// `nil` without statements.
  static func merged(_ statements: [AnsweredTransaction]) -> AnsweredTransaction? {
    let sorted = statements.ordered {
      if $0.asOfMs != $1.asOfMs { return $0.asOfMs > $1.asOfMs }
      return $0.cancellationDate != nil && $1.cancellationDate == nil
    }
    guard var merged = sorted.first else { return nil }
    for older in sorted.dropFirst() { merged.fill(from: older) }
    return merged
  }

  private mutating func fill(from older: AnsweredTransaction) {
    if !tellsCancellation, older.tellsCancellation { takeCancellation(from: older) }
    originalTransactionId = originalTransactionId ?? older.originalTransactionId
    purchaseDate = purchaseDate ?? older.purchaseDate
    originalPurchaseDate = originalPurchaseDate ?? older.originalPurchaseDate
    expiresDate = expiresDate ?? older.expiresDate
    webOrderLineItemId = webOrderLineItemId ?? older.webOrderLineItemId
    isTrial = isTrial ?? older.isTrial
    isIntro = isIntro ?? older.isIntro
    promotionalOfferId = promotionalOfferId ?? older.promotionalOfferId
    offerCodeName = offerCodeName ?? older.offerCodeName
    isUpgraded = isUpgraded ?? older.isUpgraded
    ownership = ownership ?? older.ownership
    group = group ?? older.group
    account = account ?? older.account
    isSubscription = isSubscription || older.isSubscription
    isWhole = isWhole || older.isWhole
  }

  /// Takes over whether the purchase was cancelled.
  mutating func takeCancellation(from told: AnsweredTransaction) {
    cancellationDate = told.cancellationDate
    cancellationReason = told.cancellationReason
    tellsCancellation = told.tellsCancellation
  }

  /// Whether `left` comes before `right` in `latest_receipt_info`: the newest first, of one moment
  /// the larger transaction id (VRE-33).
  static func isNewer(_ left: AnsweredTransaction, _ right: AnsweredTransaction) -> Bool {
    let (mine, theirs) = (left.purchaseDate ?? .min, right.purchaseDate ?? .min)
    if mine != theirs { return mine > theirs }
    return Text.precedesAsNumber(right.transactionId, left.transactionId)
  }

  // MARK: writing

  /// Writes an entry of `latest_receipt_info`, or of `in_app`, which never has the members that no
  /// receipt contains (VRE-31).
  func write(isLatest: Bool, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("quantity", quantity)
    writer.member("product_id", productId)
    writer.member("transaction_id", transactionId)
    writer.present("original_transaction_id", originalTransactionId)
    writer.date(.purchase, purchaseDate)
    writer.date(.originalPurchase, originalPurchaseDate)
    writer.date(.expires, expiresDate)
    writer.present("web_order_line_item_id", webOrderLineItemId)
    writer.present("is_trial_period", flag: isTrial)
    if isSubscription { writer.present("is_in_intro_offer_period", flag: isIntro) }
    writer.present("promotional_offer_id", promotionalOfferId)
    if isLatest { writer.present("offer_code_ref_name", offerCodeName) }
    writeCancellation(&writer)
    if isLatest, isUpgraded == true { writer.member("is_upgraded", "true") }
    writer.present("in_app_ownership_type", ownership)
    if isLatest {
      writer.present("subscription_group_identifier", group)
      writer.present("app_account_token", account)
    }
    writer.endObject()
  }

  func writeCancellation(_ writer: inout JSONWriter) {
    writer.date(.cancellation, cancellationDate)
    writer.present("cancellation_reason", cancellationReason)
  }

  /// Writes the members of `latest_receipt_info` in the iOS 6 style, where those of the app are
  /// carried over from the receipt (VRE-38).
  func write(ios6 info: PurchaseInfo, bundleId: Text, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("quantity", quantity)
    writer.member("product_id", productId)
    writer.member("transaction_id", transactionId)
    writer.present("original_transaction_id", originalTransactionId)
    writer.member("bid", bundleId)
    for (name, field) in [
      ("bvrs", .bvrs), ("item_id", .itemId), ("app_item_id", .appItemId),
      ("version_external_identifier", .versionExternalIdentifier),
    ] as [(StaticString, PurchaseInfo.Field)] {
      writer.present(name, info.text(field))
    }
    writer.date(.purchase, purchaseDate)
    writer.date(.originalPurchase, originalPurchaseDate)
    if let expiresDate {
      writer.name("expires_date")
      writer.decimal(expiresDate)
      writer.name("expires_date_formatted")
      writer.string(utf8: ReceiptDateText.text(expiresDate, zone: ReceiptDateText.utc))
      writer.name("expires_date_formatted_pst")
      writer.string(utf8: ReceiptDateText.text(expiresDate, zone: ReceiptDateText.pacific))
    }
    writer.present("web_order_line_item_id", webOrderLineItemId)
    writer.present("is_trial_period", flag: isTrial)
    writer.present("is_in_intro_offer_period", flag: isIntro)
    writeCancellation(&writer)
    writer.endObject()
  }
}
