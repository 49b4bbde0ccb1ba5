/// The content of an App Store Server Notification V2, with all JWS that are signed inside it
/// (docs/spec/storekit-payloads.md §2.3, §4, §5).
struct NotificationParts: Sendable {
  let body: Body
  /// The members of the body.
  let fields: Fields
  /// The verified JWS of the body; empty if it has none, or under `storekit.nested` "omit".
  var nested: [(place: StaticString, payload: SignedPayload)] = []
  /// Whether the configuration left JWS of the body unverified (NTF-8).
  var nestedIsOmitted = false

  /// The four bodies that Apple documents; a notification has exactly one.
  enum Body: CaseIterable, Sendable {
    case data, summary, externalPurchaseToken, appData

    var name: StaticString {
      switch self {
      case .data: return "data"
      case .summary: return "summary"
      case .externalPurchaseToken: return "externalPurchaseToken"
      case .appData: return "appData"
      }
    }

    var table: MemberTable {
      switch self {
      case .data: return StoreKitMembers.notificationData
      case .summary: return StoreKitMembers.notificationSummary
      case .externalPurchaseToken: return StoreKitMembers.notificationExternalPurchaseToken
      case .appData: return StoreKitMembers.notificationAppData
      }
    }

    /// The members of this body that contain a JWS, and the kind that each must be (NTF-4).
    var nestedPlaces: [(member: StaticString, place: StaticString, kind: StoreKitKind)] {
      switch self {
      case .data:
        return [
          ("signedTransactionInfo", "data.signedTransactionInfo", .transaction),
          ("signedRenewalInfo", "data.signedRenewalInfo", .renewalInfo),
        ]
      case .appData:
        return [("signedAppTransactionInfo", "appData.signedAppTransactionInfo", .appTransaction)]
      case .summary, .externalPurchaseToken: return []
      }
    }
  }

  func nested(_ kind: StoreKitKind) -> SignedPayload? {
    nested.first { $0.payload.kind == kind }?.payload
  }

  /// Finds the one body (NTF-1) and checks the version (NTF-2).
  init(
    _ fields: Fields, _ context: Fields.Context, _ warnings: inout [Warning]
  ) throws(Refusal) {
    var found: [(body: Body, value: JSONValue)] = []
    for body in Body.allCases {
      if let value = fields[body.name] { found.append((body, value)) }
    }
    try require(
      found.count <= 1, .rejectedNotificationAmbiguousBody, "NTF-1",
      at: found.map { Text(stringLiteral: $0.body.name).string }.joined(separator: ", "))
    guard let only = found.first else {
      try require(
        !NotificationParts.isKnown(fields), .rejectedNotificationNoBody, "NTF-1",
        at: "notificationType")
      throw Refusal(.unsupportedNotificationBody, "NTF-1", at: "notificationType")
    }
    if let version = fields.text("version") {
      try require(
        version.utf8.starts(with: [0x32, 0x2e]), .unsupportedNotificationVersion, "NTF-2",
        at: "version")
    }
    body = only.body
    // The members were checked with the whole payload: no warning is added twice.
    var seen: [Warning] = []
    self.fields = try Fields(
      only.value, only.body.table, path: Text(stringLiteral: only.body.name).string, context,
      &seen)
  }

  /// Whether Assay knows the notification's type.
  static func isKnown(_ fields: Fields) -> Bool {
    guard let type = fields.text("notificationType") else { return false }
    return StoreKitMembers.notificationType.contains { type.utf8[...].elementsEqual($0) }
  }

  // MARK: agreement

  /// Requires that inner and outer facts do not contradict each other (NTF-5).
  func checkAgreement(_ identity: SignedPayload.Identity) throws(Refusal) {
    for (place, inner) in nested {
      let outer = Text(stringLiteral: body.name).string
      let mine = Text(stringLiteral: place).string
      try require(
        inner.identity.environment == identity.environment, .rejectedNestedInconsistent, "NTF-5",
        at: mine + ".environment, " + outer + ".environment")
      if inner.kind == .transaction || inner.kind == .appTransaction {
        try require(
          inner.identity.bundleId == identity.bundleId, .rejectedNestedInconsistent, "NTF-5",
          at: mine + ".bundleId, " + outer + ".bundleId")
      }
      if inner.kind == .appTransaction, let innerId = inner.identity.appAppleId,
        let outerId = identity.appAppleId
      {
        try require(
          innerId == outerId, .rejectedNestedInconsistent, "NTF-5",
          at: mine + ".appAppleId, " + outer + ".appAppleId")
      }
    }
    if let transaction = nested(.transaction), let renewal = nested(.renewalInfo) {
      try require(
        transaction.text("originalTransactionId") == renewal.text("originalTransactionId"),
        .rejectedNestedInconsistent, "NTF-5",
        at: "data.signedTransactionInfo.originalTransactionId, "
          + "data.signedRenewalInfo.originalTransactionId")
    }
  }

  /// Returns warnings about differences that genuine notifications have too (NTF-6).
  func differences() -> [Warning] {
    guard let transaction = nested(.transaction), let renewal = nested(.renewalInfo) else {
      return []
    }
    var warnings: [Warning] = []
    func note(_ differs: Bool, _ place: String) {
      if differs { warnings.append(Warning("nested-differs", at: place)) }
    }
    func differ(_ left: Text?, _ right: Text?) -> Bool {
      guard let left, let right else { return false }
      return left != right
    }
    note(differ(transaction.text("productId"), renewal.text("productId")), "productId")
    note(
      differ(transaction.text("productId"), renewal.text("autoRenewProductId")),
      "autoRenewProductId")
    note(
      differ(transaction.text("appTransactionId"), renewal.text("appTransactionId")),
      "appTransactionId")
    note(differ(transaction.account, renewal.account), "appAccountToken")
    if let end = transaction.time("expiresDate"), let next = renewal.time("renewalDate") {
      note(end != next, "renewalDate")
    }
    return warnings
  }
}

extension SignedPayload {
  /// Writes the members of a notification that follow its dates and precede its keys.
  func writeNotification(_ writer: inout JSONWriter) {
    guard let parts = notification else { return }
    writer.member("signedDate", integer: time("signedDate"))
    writer.member("type", text("notificationType"))
    writer.member("subtype", text("subtype"))
    writer.member("known", boolean: NotificationParts.isKnown(fields))
    writer.member("effect", NotificationEffect(fields).name)
    writer.member("uuid", text("notificationUUID"))
    writer.member("version", text("version"))
    writer.member("body", parts.body.name)
    writer.member("status", integer: parts.fields.integer("status"))
    for kind in [StoreKitKind.transaction, .renewalInfo, .appTransaction] {
      writer.name(kind.factsMember)
      if let nested = parts.nested(kind) { nested.write(&writer) } else { writer.null() }
    }
  }
}
