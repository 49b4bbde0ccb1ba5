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
  /// An endpoint of retention messaging: the environment must be named (RTM-1).
  case messaging
  /// The same, and a repetition may find that the first request was executed (ENP-4).
  case already
  /// The same of an upload, whose file or text is checked (ENP-5, RTM-2).
  case image, message
  /// A test of the realtime URL, which Sandbox alone makes, and which is never repeated (RTM-5).
  case performanceTest
  /// An endpoint of Advanced Commerce (ACA-1): the environment must be named (ACA-8).
  case commerce
  /// The same, for apps that have signed Apple's addendum (ACA-10).
  case refund
  /// A report about external purchases (EXP-1), and what Apple has of one (EXP-5).
  case report, reported

  var isReport: Bool { self == .report || self == .reported }

  var isCommerce: Bool { self == .commerce || self == .refund }

  var isMessaging: Bool {
    switch self {
    case .messaging, .already, .image, .message, .performanceTest: return true
    default: return false
    }
  }

  /// Whether Apple answers a second request as a conflict or as not found (ENP-4).
  var isDoneOnce: Bool {
    switch self {
    case .already, .image, .message: return true
    default: return false
    }
  }
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
    case .none, .production, .once, .sameId, .messaging, .already, .image, .performanceTest,
      .reported:
      break
    case .message:
      try require(
        request["headerPosition"]?.value.text != "ABOVE_IMAGE" || request["image"] != nil,
        .misuseAppStoreParameter, "RTM-2", at: "headerPosition")
    case .commerce, .refund: try AdvancedCommerce.check(request)
    case .report: try ExternalPurchase.check(request, nowMs: nowMs)
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

  /// Checks the form and the size of an image (ENP-5).
  static func checkImage(
    _ request: ExchangeRequest, _ parameters: AppStoreParameters
  ) throws(Refusal) {
    func check(_ holds: Bool, _ detail: String) throws(Refusal) {
      try require(holds, .misuseAppStoreParameter, "ENP-5", at: "image", detail: detail)
    }
    guard let image = PNGHeader(parameters.file ?? []) else {
      throw Refusal(.misuseAppStoreParameter, "ENP-5", at: "image", detail: "no PNG file")
    }
    try check(!image.isTransparent, "no transparency")
    if request["imageSize"]?.value.text == "BULLET_POINT" {
      try check(image.width == 1024 && image.height == 1024, "1024 by 1024 pixels")
    } else {
      try check(
        image.width == 3840 && (160...2160).contains(image.height), "3840 by 160 to 2160 pixels")
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
