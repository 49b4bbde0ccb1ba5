/// One line item of a report about external purchases, whose members have been read one by one
/// (EXP-3).
struct ExternalPurchaseLine {
  private let item: MemberNode

  init(_ item: MemberNode) { self.item = item }

  func text(_ name: StaticString) -> Text? { item[name]?.value.text }
  private func integer(_ name: StaticString) -> Int64? { item[name]?.value.integer }
  private func has(_ name: StaticString) -> Bool { item[name] != nil }

  /// Refuses the line item at a member; `code` is the number that Apple would give.
  func hold(_ holds: Bool, _ name: StaticString, _ code: Int) throws(Refusal) {
    try require(
      holds, .misuseExternalPurchaseParameter, "EXP-4",
      at: item.path + "." + Text(stringLiteral: name).string,
      detail: "Apple's error " + String(code))
  }

  private static let ofBuy: [StaticString] = ["productType", "productIdentifier", "quantity"]
  private static let ofSubscription: [StaticString] = [
    "subscriptionEvent", "subscriptionStartDate", "subscriptionEndDate",
    "subscriptionDaysOfPaidService",
  ]

  func check(nowMs: Int64) throws(Refusal) {
    let isRefund = text("eventType") == "REFUND"
    let isSubscription = text("productType") == "SUBSCRIPTION"
    let isStart = text("subscriptionEvent") == "SUBSCRIPTION_START"
    for name in Self.ofBuy { try need(!isRefund, name) }
    for name in Self.ofSubscription { try need(isSubscription, name) }
    // A reference leads to the refunded purchase, or to the start of the subscription.
    if isRefund || (isSubscription && !isStart) {
      try hold(!isRefund || has("referenceLineItemId"), "referenceLineItemId", 4)
    } else {
      try hold(!has("referenceLineItemId"), "referenceLineItemId", 5)
    }
    try hold(text("referenceLineItemId") != text("lineItemId"), "referenceLineItemId", 13)
    let creation = integer("creationDate") ?? 0
    try hold(creation <= nowMs, "creationDate", 6)
    let isWithdrawn = item["erroneouslySubmitted"]?.value.boolean == true
    try hold(
      !isWithdrawn || item["restatement"]?.value.boolean == true, "erroneouslySubmitted", 20)
    try checkAmounts()
    try checkSubscription(isStart: isStart)
  }

  /// Requires a member where it belongs, and refuses it elsewhere.
  private func need(_ isNeeded: Bool, _ name: StaticString) throws(Refusal) {
    try hold(isNeeded == has(name), name, isNeeded ? 4 : 5)
  }

  private func checkAmounts() throws(Refusal) {
    let differ = text("pricingCurrency") != text("reportingCurrency")
    try hold(differ == has("exchangeRate"), "exchangeRate", differ ? 4 : 18)
    if let rate = text("exchangeRate") { try hold(isRate(rate), "exchangeRate", 16) }
    for name in ["pricingCurrency", "taxCountry"] as [StaticString] {
      let letters = text(name)?.utf8 ?? []
      try hold(
        letters.count == 3 && letters.allSatisfy { (0x41...0x5a).contains($0) }, name, 7)
    }
    // Each amount is at most 2^53 − 1, so that the sum fits.
    let sum = (integer("amountTaxExclusive") ?? 0) &+ (integer("taxAmount") ?? 0)
    try hold(integer("amountTaxInclusive") == sum, "amountTaxInclusive", 11)
  }

  /// Whether a text is a decimal number above 0.
  private func isRate(_ text: Text) -> Bool {
    let parts = text.utf8.split(separator: 0x2e, omittingEmptySubsequences: false)
    return (1...2).contains(parts.count)
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
      && parts.contains { $0.contains { $0 != 0x30 } }
  }

  private func checkSubscription(isStart: Bool) throws(Refusal) {
    guard let start = integer("subscriptionStartDate"), let end = integer("subscriptionEndDate")
    else { return }
    try hold(start <= end, "subscriptionStartDate", 17)
    try hold(
      !isStart || integer("subscriptionDaysOfPaidService") == 0, "subscriptionDaysOfPaidService",
      34)
  }
}
