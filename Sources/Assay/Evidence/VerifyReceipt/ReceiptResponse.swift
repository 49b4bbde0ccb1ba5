/// A response of Apple's verifyReceipt endpoint about one receipt (docs/spec/receipts-triage.md
/// §2). Created only by reading one.
///
/// The evidence class is `apple-answer`: nothing but `latest_receipt` is signed, so that the
/// response is only as trustworthy as the host's TLS connection (VRR-18).
final class ReceiptResponse: Sendable {
  /// The body that was read (STO-15).
  let source: [UInt8]
  let status: AppleReceiptStatus
  let style: ResponseStyle
  let identity: Identity
  /// The members at the top of the response.
  let answer: ResponseFields
  /// The members of `receipt` if it describes the app; `nil` in the iOS 6 style, where it is a
  /// purchase.
  let app: ResponseFields?
  /// Each transaction once, ordered by the end of its period (VRR-11).
  let transactions: [ResponseTransaction]
  let renewals: [ResponseRenewal]
  /// The result for `latest_receipt`; `nil` if the response has none.
  let latestReceipt: LatestReceipt?
  let clock: Clock
  let warnings: [Warning]
  private let catalogue: Catalogue
  private let deviceIdsReported: Bool

  /// The app and environment of the response (VRR-16, VRR-17).
  struct Identity: Sendable {
    enum Source: Sendable {
      case answer, endpoint, receiptType, transactionId

      var name: StaticString {
        switch self {
        case .answer: return "answer"
        case .endpoint: return "endpoint"
        case .receiptType: return "receipt-type"
        case .transactionId: return "transaction-id"
        }
      }
    }

    let bundleId: Text
    /// The environment; `nil` if nothing implies one and `receipts.unknownEnvironment` allows
    /// that.
    let environment: (environment: Environment, source: Source)?
  }

  /// The result of verifying `latest_receipt` offline (VRR-18).
  struct LatestReceipt: Sendable {
    let status: Status
    /// The SHA-256 of the text as the response contains it.
    let sha256: [UInt8]
    /// The verified receipt; `nil` if it was refused.
    let receipt: Receipt?

    enum Receipt: Sendable {
      case transaction(TransactionReceipt)
      case app(AppReceipt)
    }
  }

  /// The time of the response, in milliseconds since 1970 UTC.
  struct Clock: Sendable {
    /// Apple's clock at the time of the response; `nil` in the iOS 6 style.
    let requestDate: Int64?
    /// The moment whose state the response reports: `request_date`, else the latest date in the
    /// response, which cannot be older; 0 if there is none. Never the host's time of reading: a
    /// stored response that is read again is not newer evidence (DCD-21).
    let asOfMs: Int64
    let nowMs: Int64

    /// - `latestDate`: the latest date of purchases, cancellations and the receipt's creation.
    init(requestDate: Int64?, latestDate: Int64, nowMs: Int64) {
      self.requestDate = requestDate
      asOfMs = requestDate ?? latestDate
      self.nowMs = nowMs
    }

    /// How far Apple's clock is ahead of the host's in milliseconds; `nil` unless the two differ
    /// by more than five minutes (VRR-10).
    var skew: Int64? {
      guard let requestDate else { return nil }
      let (ahead, overflowed) = requestDate.subtractingReportingOverflow(nowMs)
      guard !overflowed, ahead.magnitude > UInt64(5 * Milliseconds.minute) else { return nil }
      return ahead
    }
  }

  init(
    _ source: [UInt8], _ parts: ReceiptResponseParts, _ status: AppleReceiptStatus,
    _ identity: Identity, _ latestReceipt: LatestReceipt?, _ configuration: Configuration,
    nowMs: Int64
  ) {
    self.source = source
    self.status = status
    self.identity = identity
    self.latestReceipt = latestReceipt
    style = parts.style
    answer = parts.answer
    app = parts.app
    transactions = parts.transactions
    renewals = parts.renewals
    var latestDate = parts.app?.time("receipt_creation_date") ?? 0
    for entry in parts.transactions {
      latestDate = max(latestDate, entry.start ?? 0, entry.revokedAtMs ?? 0)
    }
    clock = Clock(
      requestDate: parts.app?.time("request_date"), latestDate: latestDate, nowMs: nowMs)
    var warnings = parts.warnings
    if let latestReceipt, latestReceipt.status != .ok {
      warnings.add("latest-receipt-not-verified", at: "latest_receipt")
    }
    self.warnings = warnings.found
    catalogue = configuration.products
    deviceIdsReported = configuration.receipts.deviceIdsReported
  }

  // MARK: document

  func writeWarnings(_ writer: inout JSONWriter) { Warning.write(warnings, &writer) }

  /// Writes the value of the member `verifyReceipt` (VRR-19).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("appleStatus", integer: status.code)
    writer.member("style", style.name)
    writer.member(
      "environment", identity.environment.map { Text(stringLiteral: $0.environment.name) })
    writer.member(
      "environmentSource", identity.environment.map { Text(stringLiteral: $0.source.name) })
    writer.member("bundleId", identity.bundleId)
    writer.member("asOfMs", integer: clock.asOfMs)
    writer.member("clockSkew", integer: clock.skew)
    if let app {
      app.write(style: style, deviceIds: false, &writer)
    } else {
      writer.member("requestDate", integer: nil)
    }
    answer.write(style: style, deviceIds: false, &writer)
    writer.name("transactions")
    writer.beginArray()
    for entry in transactions { write(entry, &writer) }
    writer.endArray()
    writer.name("renewals")
    writer.beginArray()
    for renewal in renewals { write(renewal, &writer) }
    writer.endArray()
    writer.name("latestReceipt")
    writeLatestReceipt(&writer)
    writer.member("evidence", EvidenceClass.appleAnswer.name)
    writeUnknown(&writer)
    writer.endObject()
  }

  private func write(_ entry: ResponseTransaction, _ writer: inout JSONWriter) {
    let product = catalogue.product(entry.productId)
    let environment = identity.environment?.environment
    writer.beginObject()
    entry.fields.write(style: style, deviceIds: deviceIdsReported, &writer)
    writer.member("known", boolean: product != nil)
    writer.name("keys")
    writer.beginObject()
    writer.member(
      "transaction",
      ReplayKeys.transaction(environment: environment, transactionId: entry.transactionId))
    writer.member(
      "purchase",
      ReplayKeys.purchase(
        environment: environment, type: product?.type, transactionId: entry.transactionId,
        originalTransactionId: entry.originalTransactionId,
        webOrderLineItemId: entry.fields.id("web_order_line_item_id"),
        purchaseDate: entry.start))
    writer.member(
      "subscription",
      ReplayKeys.subscription(
        environment: environment, originalTransactionId: entry.originalTransactionId))
    writer.endObject()
    entry.fields.writeUnknown(&writer)
    writer.endObject()
  }

  private func write(_ renewal: ResponseRenewal, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("originalTransactionId", renewal.originalTransactionId)
    writer.member("productId", renewal.productId)
    renewal.fields.write(style: style, deviceIds: false, &writer)
    // In the iOS 6 style the object is the whole response, whose unknown members are written
    // elsewhere.
    if style == .ios7 { renewal.fields.writeUnknown(&writer) }
    writer.endObject()
  }

  private func writeLatestReceipt(_ writer: inout JSONWriter) {
    guard let latestReceipt else {
      writer.null()
      return
    }
    writer.beginObject()
    writer.member("verified", boolean: latestReceipt.status == .ok)
    writer.member("status", latestReceipt.status.name)
    writer.member("sha256", Text(Hex.encode(latestReceipt.sha256)))
    writer.endObject()
  }

  /// Writes unknown members of the response and of an app's `receipt`. Those of an iOS 6 receipt
  /// are written with its transaction.
  private func writeUnknown(_ writer: inout JSONWriter) {
    answer.writeUnknown(&writer)
    app?.writeUnknown(as: "unknownInReceipt", &writer)
  }

  // MARK: decision

  /// Returns the purchases and renewal info for a decision. Product types come from the
  /// catalogue, which the decision has (the table under DCD-4).
  ///
  /// - Throws: `rejected.payload.incomplete` when nothing implies the environment, because
  ///   environments are never mixed (DCD-4).
  func purchaseEvidence(_ catalogue: Catalogue) throws(Refusal) -> PurchaseEvidence {
    guard let environment = identity.environment?.environment else {
      throw Refusal(.rejectedPayloadIncomplete, "DCD-1", at: "environment")
    }
    var evidence = PurchaseEvidence(
      kind: "verify-receipt-response", purchases: [], renewals: [], asOfMs: clock.asOfMs,
      evidenceClass: .appleAnswer)
    evidence.purchases = transactions.map { purchaseFacts($0, environment) }
    evidence.renewals = renewals.compactMap { renewalFacts($0, environment) }
    return evidence
  }

  private func purchaseFacts(
    _ entry: ResponseTransaction, _ environment: Environment
  ) -> PurchaseFacts {
    let fields = entry.fields
    var facts = PurchaseFacts(
      environment: environment, transactionId: entry.transactionId,
      originalTransactionId: entry.originalTransactionId, productId: entry.productId,
      asOfMs: clock.asOfMs)
    facts.evidenceClass = .appleAnswer
    facts.isExpiredAnswer = status == .expired
    facts.webOrderLineItemId = fields.id("web_order_line_item_id")
    facts.group = fields.id("subscription_group_identifier")
    facts.start = entry.start
    facts.end = entry.end
    facts.timeIsKnown = clock.requestDate != nil
    facts.canReport = shownMembers(entry)
    facts.revokedAtMs = entry.revokedAtMs
    facts.revocationReason = fields.number("cancellation_reason")
    // The reason at the top is that of a cancellation without a reason of its own; without a
    // cancellation it is no evidence of a refund.
    if facts.revokedAtMs != nil, facts.revocationReason == nil {
      facts.revocationReason = answer.number("cancellation_reason")
    }
    facts.dateRevocation()
    facts.isUpgraded = entry.isUpgraded
    facts.ownership = fields.text("in_app_ownership_type")
    facts.isTrial = fields.flag("is_trial_period") ?? false
    facts.isIntro = fields.flag("is_in_intro_offer_period") ?? false
    facts.hasOffer =
      fields.text("promotional_offer_id")?.isEmpty == false
      || fields.text("offer_code_ref_name")?.isEmpty == false
    facts.quantity = fields.number("quantity") ?? 1
    facts.account = entry.account
    return facts
  }

  /// The members that an entry can report. Upgrades, accounts and all offers are only in
  /// `latest_receipt_info` of the iOS 7 style. In an entry of another list, or from before family
  /// sharing, absence of a member states nothing (DCD-3).
  private func shownMembers(_ entry: ResponseTransaction) -> ReportableMembers {
    let isLatest = style == .ios7 && entry.source != .receipt
    var canReport: ReportableMembers =
      isLatest ? [.revocation, .upgrade, .account, .offers] : .revocation
    if entry.fields["is_upgraded"] != nil { canReport.insert(.upgrade) }
    if entry.account != nil { canReport.insert(.account) }
    if entry.fields["in_app_ownership_type"] != nil { canReport.insert(.family) }
    return canReport
  }

  /// Returns the renewal info for a decision; `nil` if its subscription is unknown.
  func renewalFacts(
    _ renewal: ResponseRenewal, _ environment: Environment
  ) -> RenewalFacts? {
    guard let line = renewal.originalTransactionId else { return nil }
    let fields = renewal.fields
    var facts = RenewalFacts(
      environment: environment, originalTransactionId: line, asOfMs: clock.asOfMs)
    facts.evidenceClass = .appleAnswer
    facts.productId = renewal.productId
    facts.autoRenewProductId = fields.productId("auto_renew_product_id")
    facts.autoRenewStatus = fields.onOff("auto_renew_status")
    facts.isInBillingRetry = fields.flag("is_in_billing_retry_period")
    facts.graceEnd = fields.time("grace_period_expires_date")
    facts.expirationIntent = fields.number("expiration_intent")
    facts.priceIncreaseStatus = renewal.priceIncreaseStatus
    return facts
  }
}
