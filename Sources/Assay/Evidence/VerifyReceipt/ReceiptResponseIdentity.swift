/// Checks whether a response is about an app (VRR-16) and an environment (VRR-17) of this
/// verifier.
struct ReceiptResponseIdentity {
  private let configuration: Configuration
  private let parts: ReceiptResponseParts
  private let endpoint: Environment?

  init(_ configuration: Configuration, _ parts: ReceiptResponseParts, _ endpoint: Environment?) {
    self.configuration = configuration
    self.parts = parts
    self.endpoint = endpoint
  }

  // MARK: app

  /// Returns the configured app of the response. In the iOS 6 style every purchase names an app,
  /// which must be that of the receipt (VRR-16).
  func app() throws(Refusal) -> Configuration.App {
    let place = parts.style == .ios6 ? "receipt.bid" : "receipt.bundle_id"
    guard let bundleId = parts.bundleId,
      let app = configuration.apps.first(where: { $0.bundleId == bundleId })
    else { throw Refusal(.rejectedAppBundleId, "VRR-16", at: place) }
    guard parts.style == .ios6 else { return app }
    for entry in parts.transactions {
      guard let other = entry.fields.text("bid") else { continue }
      try require(
        other == bundleId, .rejectedVerifyReceiptMismatch, "VRR-16", at: entry.place.of("bid"))
    }
    return app
  }

  /// Whether the response has an app id to compare; 0 is none.
  var namesApp: Bool { !appIds.isEmpty }

  /// Requires the configured app id, which is compared in Production only (VRR-16).
  func checkApp(_ app: Configuration.App) throws(Refusal) {
    for (id, place) in appIds {
      try require(id == app.appAppleId, .rejectedAppAppAppleId, "VRR-16", at: place)
    }
  }

  private var appIds: [(id: Int64, place: String)] {
    var found: [(id: Int64, place: String)] = []
    for name in ["adam_id", "app_item_id"] as [StaticString] {
      if let id = parts.app?.number(name), id != 0 {
        found.append((id, ResponsePath("receipt").of(name)))
      }
    }
    guard parts.style == .ios6 else { return found }
    for entry in parts.transactions {
      if let id = entry.fields.number("app_item_id"), id != 0 {
        found.append((id, entry.place.of("app_item_id")))
      }
    }
    return found
  }

  // MARK: environment

  typealias Found = (environment: Environment, source: ReceiptResponse.Identity.Source)

  /// Returns the environment: that of the member `environment`, in the iOS 6 style that of the
  /// endpoint which responded, else that of the receipt type, else that of the transaction ids.
  /// All that imply one must agree. `nil` if nothing implies one and the configuration allows
  /// that (VRR-17).
  func environment() throws(Refusal) -> Found? {
    var found = try stated()
    if let type = parts.app?.text("receipt_type"),
      let typed = AppReceiptVerification.environment(ofType: type.utf8[...])
    {
      // The endpoint does not process receipts from Xcode: no environment agrees with that type.
      try require(
        typed != .xcode && (found == nil || found?.environment == typed),
        .rejectedEnvironmentSignerMismatch, "VRR-17", at: "receipt.receipt_type")
      if found == nil { found = (typed, .receiptType) }
    }
    for entry in parts.transactions {
      let id = entry.transactionId.utf8[...]
      guard let shown = IdEnvironment.of(id).environment else { continue }
      try require(
        found == nil || found?.environment == shown, .rejectedEnvironmentSignerMismatch,
        "VRR-17", at: entry.place.of("transaction_id"))
      if found == nil { found = (shown, .transactionId) }
    }
    guard let found else {
      try require(
        configuration.receipts.unknownEnvironmentAllowed, .rejectedEnvironmentMissing,
        "VRR-17", at: "environment")
      return nil
    }
    try require(
      configuration.environments.contains(found.environment), .rejectedEnvironmentNotAccepted,
      "VRR-17", at: "environment")
    return found
  }

  /// Returns the environment that the response states. The endpoint has two; any other value is
  /// refused.
  private func stated() throws(Refusal) -> Found? {
    guard let text = parts.answer.text("environment") else {
      return parts.style == .ios6 ? endpoint.map { ($0, .endpoint) } : nil
    }
    switch text {
    case "Production": return (.production, .answer)
    case "Sandbox": return (.sandbox, .answer)
    default: throw Refusal(.rejectedEnvironmentNotAccepted, "VRR-17", at: "environment")
    }
  }
}
