/// Cases in documents.
extension RefundRow {
  func write(
    _ subject: RefundSubject, _ history: RefundCase.History?, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("environment", environment)
    writer.member("transactionId", transactionId)
    writer.member("originalTransactionId", originalTransactionId)
    writer.member("productId", product)
    writer.member("state", state.name)
    writer.name("purchase")
    if state == .open { writeCase(subject, history, &writer) } else { writer.null() }
    writer.member("account", subject.account)
    writer.member("askedAtMs", integer: askedAtMs)
    writer.member("dueAtMs", integer: dueAtMs)
    writer.member("leaseExpiresAtMs", integer: leaseMs == 0 ? nil : leaseMs)
    writer.texts("rules", ruleNames)
    writer.member("deliveryStatus", said?.delivery)
    writer.member("consumptionPercentage", integer: said?.percentage)
    writer.member("refundPreference", said?.preference)
    writer.member("sentAtMs", integer: sentAtMs)
    writer.member("settledAtMs", integer: settledAtMs)
    writer.member("status", status)
    writer.name("outcome")
    if let outcome { writer.string(outcome.name) } else { writer.null() }
    writer.member("outcomeAtMs", integer: outcome == nil ? nil : outcomeAtMs)
    writer.member("outcomePercentage", integer: outcomeShare)
    writer.member("takenUnits", integer: subject.takenUnits)
    writer.endObject()
  }

  /// The ids of the rules of the answer; none before an answer.
  var ruleNames: [Text] {
    said?.rules.utf8.split(separator: 0x20).map { Text(Array($0)) } ?? []
  }

  /// Writes what `assess-refund` takes as `case` (RFA-2).
  private func writeCase(
    _ subject: RefundSubject, _ history: RefundCase.History?, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("environment", environment)
    writer.member("bundleId", bundleId)
    writer.member("transactionId", transactionId)
    writer.member("product", product)
    writer.member("type", type)
    writer.member("ownership", ownership)
    writer.member("purchasedAtMs", integer: purchasedAtMs)
    writer.member("askedAtMs", integer: askedAtMs)
    writer.member("isGranted", boolean: subject.isGranted)
    writer.member("reason", reason)
    writer.member("isAdvancedCommerce", boolean: isAdvancedCommerce)
    writer.member("isTrial", boolean: isTrial)
    writer.member("account", subject.account)
    writer.member("isRestricted", boolean: subject.isForgotten)
    writer.name("history")
    if let history {
      writer.beginObject()
      writer.member("refunds", integer: history.refunds)
      writer.member("purchases", integer: history.purchases)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.endObject()
  }
}
