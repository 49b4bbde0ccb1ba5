/// The checks and limits that one endpoint has and others do not.
enum AppStoreRule: Sendable {
  case none
  /// The endpoint exists in Production only.
  case production
  /// A request is never repeated (API-53).
  case once
  /// The response must be about the requested id (API-32).
  case sameId
  /// The request depends on the kind and ownership of the transaction (API-24).
  case account, consumption, consumptionV1
  case notifications
}

extension AppStoreRule {
  /// The time for which Apple keeps notifications.
  private static let historyMs: Int64 = 180 * Milliseconds.day

  /// Checks the members of a request together, and against the verified transaction if the host
  /// passes one as evidence (API-24).
  ///
  /// - Throws: `misuse.app-store.parameter`, `misuse.exchange.evidence`.
  func check(
    _ request: ExchangeRequest, _ evidence: VerifiedEvidence?, nowMs: Int64
  ) throws(Refusal) {
    switch self {
    case .none, .production, .once, .sameId: break
    case .notifications: try AppStoreRule.checkHistory(request, nowMs: nowMs)
    case .account:
      guard
        let transaction = try AppStoreRule.transaction(
          evidence, "originalTransactionId", request)
      else { return }
      try AppStoreRule.checkOwnership(transaction, ["ASSIGNED", "FAMILY_SHARED"])
    case .consumption: try AppStoreRule.checkConsumption(request, evidence)
    case .consumptionV1:
      guard let transaction = try AppStoreRule.transaction(evidence, "transactionId", request)
      else { return }
      try AppStoreRule.checkOwnership(transaction, ["ASSIGNED"])
      try require(
        transaction.isAdvancedCommerce, .misuseAppStoreParameter, "API-24", at: "evidence[0]")
    }
  }

  private static func refuse(_ holds: Bool, _ name: StaticString) throws(Refusal) {
    try require(
      holds, .misuseAppStoreParameter, "API-24", at: Text(stringLiteral: name).string)
  }

  /// Returns the verified transaction, which must have the id of the request.
  private static func transaction(
    _ evidence: VerifiedEvidence?, _ name: StaticString, _ request: ExchangeRequest
  ) throws(Refusal) -> SignedPayload? {
    guard case .storeKit(let payload)? = evidence else { return nil }
    try require(
      payload.text(name) == request[name]?.value.text, .misuseExchangeEvidence, "API-24",
      at: "evidence[0]")
    return payload
  }

  private static func checkOwnership(
    _ transaction: SignedPayload, _ refused: [StaticString]
  ) throws(Refusal) {
    guard let ownership = transaction.text("inAppOwnershipType") else { return }
    try require(
      !refused.contains { ownership == Text(stringLiteral: $0) }, .misuseAppStoreParameter,
      "API-24",
      at: "evidence[0]")
  }

  private static func checkConsumption(
    _ request: ExchangeRequest, _ evidence: VerifiedEvidence?
  ) throws(Refusal) {
    let percentage = request["consumptionPercentage"]?.value.integer
    let delivery = request["deliveryStatus"]?.value.text ?? ""
    let isUndelivered = delivery.utf8[...].prefix(11).elementsEqual("UNDELIVERED")
    try refuse(!isUndelivered || (percentage ?? 0) == 0, "consumptionPercentage")
    guard let transaction = try transaction(evidence, "transactionId", request) else { return }
    try checkOwnership(transaction, ["ASSIGNED"])
    try require(
      !transaction.isAdvancedCommerce, .misuseAppStoreParameter, "API-24", at: "evidence[0]")
    if transaction.productType == .autoRenewable {
      try refuse(percentage == nil, "consumptionPercentage")
    } else if request["refundPreference"]?.value.text == "GRANT_PRORATED" {
      try refuse((percentage ?? 0) > 0, "refundPreference")
    }
  }

  /// Checks a NotificationHistoryRequest (docs/spec/app-store-server-api.md §4).
  private static func checkHistory(
    _ request: ExchangeRequest, nowMs: Int64
  ) throws(Refusal) {
    let start = request["startDate"]?.value.integer ?? 0
    let end = request["endDate"]?.value.integer ?? 0
    func check(_ holds: Bool, _ name: StaticString) throws(Refusal) {
      try require(
        holds, .misuseAppStoreParameter, "API-21", at: Text(stringLiteral: name).string)
    }
    try check(start >= nowMs &- historyMs, "startDate")
    try check(end > start, "endDate")
    let hasType = request["notificationType"] != nil
    try check(request["notificationSubtype"] == nil || hasType, "notificationSubtype")
    try check(request["transactionId"] == nil || !hasType, "transactionId")
  }
}

extension SignedPayload {
  /// Whether the transaction was bought with the Advanced Commerce API.
  fileprivate var isAdvancedCommerce: Bool {
    json.root.present("advancedCommerceInfo") != nil
  }
}
