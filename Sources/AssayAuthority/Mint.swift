/// The kinds of evidence that the authority mints, by their names in documents.
public enum EvidenceKind: String, Sendable, CaseIterable {
  case transaction
  case renewalInfo = "renewal-info"
  case notification
  case appTransaction = "app-transaction"
  case realtimeRequest = "realtime-request"
}

extension Authority {
  /// Signs a payload as the App Store would.
  public func mint(_ payload: JSONText) throws -> [UInt8] {
    try JWSTemplate(payload: payload.bytes, chain: chain).signed()
  }

  /// Signs a payload as Xcode would.
  public func mintXcode(_ payload: JSONText) throws -> [UInt8] {
    try JWSTemplate(
      xcodePayload: payload.bytes, certificate: xcodeCertificate, key: xcodeKey
    ).signed()
  }

  /// Returns the usual payload of one kind about a purchase. A notification is a SUBSCRIBED /
  /// INITIAL_BUY with its transaction and renewal info signed.
  public func payload(_ kind: EvidenceKind, _ purchase: Purchase) throws -> JSONText {
    switch kind {
    case .transaction: return purchase.transactionPayload
    case .renewalInfo: return purchase.renewalPayload
    case .notification: return try notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    case .appTransaction: return purchase.appTransactionPayload
    case .realtimeRequest: return purchase.realtimeRequestPayload
    }
  }

  /// Returns the payload of a notification of any type, with the body of that type.
  public func notification(
    _ type: String, _ subtype: String?, _ purchase: Purchase
  ) throws -> JSONText {
    let envelope = NotificationPayload(type, subtype, signedDate: purchase.signedDate)
    switch (type, subtype) {
    case ("TEST", _):
      return envelope.payload(("data", NotificationPayload.testData(purchase)))
    case ("RENEWAL_EXTENSION", "SUMMARY"):
      return envelope.payload(("summary", NotificationPayload.summary(purchase)))
    case ("EXTERNAL_PURCHASE_TOKEN", _):
      let id = "b2158121-7af9-49d4-9561-1f588205523e"
      let prefix = purchase.environment == "Sandbox" ? "SANDBOX_" : ""
      return envelope.payload(
        (
          "externalPurchaseToken",
          NotificationPayload.externalPurchaseToken(
            purchase, id: prefix + id, customLink: subtype != "UNREPORTED")
        ))
    case ("RESCIND_CONSENT", _):
      let app = try mint(purchase.appTransactionPayload)
      return envelope.payload(
        ("appData", NotificationPayload.appData(purchase, appTransaction: app)))
    default:
      let subscription = purchase.type == .autoRenewable
      return envelope.payload(
        (
          "data",
          NotificationPayload.data(
            purchase, status: subscription ? 1 : nil,
            consumptionRequestReason: type == "CONSUMPTION_REQUEST" ? "LEGAL" : nil,
            transaction: try mint(purchase.transactionPayload),
            renewal: subscription ? try mint(purchase.renewalPayload) : nil)
        ))
    }
  }
}
