/// Reads one successful response of the App Store Server API and verifies every JWS in it
/// (docs/spec/app-store-server-api.md §5).
struct AppStoreReading {
  let task: AppStoreTask
  let trust: StoreKitTrust
  /// The server that returned the response.
  let host: AppStoreHost
  let nowMs: Int64
  /// The result of the earlier pages, to which this page is added.
  private(set) var result: AppStoreResult

  static let bodyCap = 4 << 20
  /// Above what a body of `bodyCap` bytes of signed data can contain.
  private static let caps = JSONCaps(elements: 16_384, values: 1 << 18)
  private static let contentType: StaticString = "application/json"

  init(
    _ task: AppStoreTask, _ trust: StoreKitTrust, _ host: AppStoreHost, _ result: AppStoreResult,
    nowMs: Int64
  ) {
    self.task = task
    self.trust = trust
    self.host = host
    self.result = result
    self.nowMs = nowMs
  }

  /// - Throws: the refusal of the response, or of a JWS with its path in the response.
  mutating func run(_ answer: HTTPResponse) throws(Refusal) {
    guard let needed = task.endpoint.answer else { return }
    let root = try read(answer)
    // `status` of a report is another member than that of an order.
    if task.endpoint.rule != .reported {
      try AppStoreResponseMembers.check(root, at: "", &result.warnings)
    }
    for name in needed {
      try require(
        root.present(name) != nil, .malformedAppStoreResponse, "API-30",
        at: Text(stringLiteral: name).string)
    }
    if task.endpoint.rule == .reported { return try readReport(root) }
    result.last = root
    if task.endpoint.rule == .report { return try checkReportId(root) }
    try checkAgreement(root)
    try readItems(root)
    try readStatuses(root)
    try readNotifications(root)
    try readMessaging(root)
  }

  /// Reads what Apple has of a report, whose members are no others' (EXP-5).
  private mutating func readReport(_ root: JSONValue) throws(Refusal) {
    try checkReportId(root)
    result.report = root
  }

  private func checkReportId(_ root: JSONValue) throws(Refusal) {
    try agree(
      root.present("requestIdentifier")?.text?.asciiLowercased == task.reportId,
      "requestIdentifier")
  }

  /// Reads what Apple has of a report that may have been sent before, and compares its line items
  /// (EXP-7).
  mutating func runLookUp(_ answer: HTTPResponse) throws(Refusal) {
    let root = try read(answer)
    try readReport(root)
    let found = ExternalPurchase.ids(root.present("lineItems"))
    try require(
      found.count == task.lineItems.count && found.allSatisfy { task.lineItems.contains($0) },
      .rejectedExternalPurchaseDisagree, "EXP-7", at: "lineItems")
  }

  /// Checks the objects inside a response of retention messaging, which has no JWS.
  private mutating func readMessaging(_ root: JSONValue) throws(Refusal) {
    for name in ["imageIdentifiers", "messageIdentifiers"] as [StaticString] {
      for (index, entry) in (root.present(name)?.elements ?? []).enumerated() {
        let path = Text(stringLiteral: name).string + "[" + String(index) + "]."
        try AppStoreResponseMembers.check(entry, at: path, &result.warnings)
      }
    }
    for name in ["config", "responseTimes"] as [StaticString] {
      guard let object = root.present(name) else { continue }
      let path = Text(stringLiteral: name).string + "."
      try AppStoreResponseMembers.check(object, at: path, &result.warnings)
    }
    for count in root.present("failures")?.elements ?? [] {
      try require(
        count.integer != nil, .malformedAppStoreResponse, "RTM-5",
        at: "failures." + count.name.string)
      let isKnown = AppStoreValueSets.sendAttemptResult.contains {
        count.name.utf8[...].elementsEqual($0)
      }
      if !isKnown {
        result.warnings.append(Warning("unknown-value", at: "failures." + count.name.string))
      }
    }
  }

  /// Reads the body as JSON and checks its length and content type (API-30).
  private func read(_ answer: HTTPResponse) throws(Refusal) -> JSONValue {
    try require(!answer.isTruncated, .tooLargeAppStoreResponse, "API-30", at: "truncated")
    try require(
      answer.body.count <= AppStoreReading.bodyCap, .tooLargeAppStoreResponse, "API-30", at: "body")
    let type = answer.header("content-type")?.asciiLowercased.utf8 ?? []
    try require(
      type.prefix(AppStoreReading.contentType.utf8CodeUnitCount)
        .elementsEqual(AppStoreReading.contentType), .malformedAppStoreContentType, "API-30",
      at: "content-type")
    do {
      return try JSONReader.readObject(answer.body, caps: AppStoreReading.caps).root
    } catch {
      throw Refusal(error.status, "API-30", at: "response")
    }
  }

  // MARK: agreement (API-32)

  private func agree(_ holds: Bool, _ place: String) throws(Refusal) {
    try require(holds, .rejectedAppStoreInconsistent, "API-32", at: place)
  }

  /// Checks the unsigned members against the called server and the app.
  private func checkAgreement(_ root: JSONValue) throws(Refusal) {
    if let name = root.present("environment")?.text {
      try agree(Environment(name) == host.environment, "environment")
    }
    if let bundleId = root.present("bundleId")?.text {
      try agree(bundleId == task.app.bundleId, "bundleId")
    }
    if let id = root.present("appAppleId")?.integer, let known = task.app.appAppleId {
      try agree(id == known, "appAppleId")
    }
  }

  /// Checks verified members against the called server, the app and the requested id.
  private func checkAgreement(
    _ payload: SignedPayload, at path: String
  ) throws(Refusal) {
    let identity = payload.identity
    try agree(identity.environment == host.environment, path + ".environment")
    if let bundleId = identity.bundleId {
      try agree(bundleId == task.app.bundleId, path + ".bundleId")
    }
    if let signed = identity.appAppleId,
      let unsigned = result.last?.present("appAppleId")?.integer
    {
      try agree(signed == unsigned, path + ".appAppleId")
    }
    if task.endpoint.rule == .sameId, let id = task.parameters.id {
      try agree(
        payload.text("transactionId") == id || payload.text("originalTransactionId") == id,
        path + ".transactionId")
    }
  }

  // MARK: what is signed (API-31)

  /// Verifies one JWS, and checks that it agrees with the request and with `original`, what the
  /// response says of its original transaction.
  ///
  /// - Returns: the index in the result's list of this kind; `nil` if there is no JWS, or if it
  ///   was refused under `partial`.
  private mutating func verify(
    _ value: JSONValue?, _ kind: StoreKitKind, at path: String,
    of original: (id: Text?, place: String)? = nil
  ) throws(Refusal) -> Int? {
    guard let text = value?.text else { return nil }
    var isTolerated = task.options.isPartial
    do throws(Refusal) {
      let payload = try verified(text, kind, at: path)
      isTolerated = isTolerated && task.toleratesDisagreement
      try checkAgreement(payload, at: path)
      if let original, let id = original.id, let signed = payload.text("originalTransactionId") {
        try agree(id == signed, original.place)
      }
      return result.add(payload)
    } catch {
      guard isTolerated, error.status.family != .internal else { throw error }
      result.refused.append(error)
      result.refusedTexts.append(Text(Hex.encode(Digest.sha256.of(text.utf8))))
      return nil
    }
  }

  private func verified(
    _ text: Text, _ kind: StoreKitKind, at path: String
  ) throws(Refusal) -> SignedPayload {
    do throws(Refusal) {
      var verification = StoreKitVerification(
        trust, kind, askedFor: task.appWithoutBundle(at: host), nowMs: nowMs)
      return try verification.run(text.utf8)
    } catch {
      throw error.inside(path, as: .jws)
    }
  }

  private mutating func readItems(_ root: JSONValue) throws(Refusal) {
    _ = try verify(
      root.present("signedTransactionInfo"), .transaction, at: "signedTransactionInfo")
    _ = try verify(root.present("signedRenewalInfo"), .renewalInfo, at: "signedRenewalInfo")
    _ = try verify(
      root.present("signedAppTransactionInfo"), .appTransaction, at: "signedAppTransactionInfo")
    for (index, value) in (root.present("signedTransactions")?.elements ?? []).enumerated() {
      _ = try verify(value, .transaction, at: "signedTransactions[" + String(index) + "]")
    }
  }

  private mutating func readStatuses(_ root: JSONValue) throws(Refusal) {
    for (index, group) in (root.present("data")?.elements ?? []).enumerated() {
      let place = "data[" + String(index) + "]."
      try AppStoreResponseMembers.check(group, at: place, &result.warnings)
      let id = group.present("subscriptionGroupIdentifier")?.text
      let entries = group.present("lastTransactions")?.elements ?? []
      for (index, entry) in entries.enumerated() {
        try readStatus(
          entry, group: id, at: place + "lastTransactions[" + String(index) + "].")
      }
    }
  }

  private mutating func readStatus(
    _ entry: JSONValue, group: Text?, at path: String
  ) throws(Refusal) {
    try AppStoreResponseMembers.check(entry, at: path, &result.warnings)
    let place = path + "originalTransactionId"
    var line = entry.present("originalTransactionId")?.text
    let transaction = try verify(
      entry.present("signedTransactionInfo"), .transaction, at: path + "signedTransactionInfo",
      of: (line, place))
    if let transaction {
      line = result.transactions[transaction].text("originalTransactionId") ?? line
    }
    let renewal = try verify(
      entry.present("signedRenewalInfo"), .renewalInfo, at: path + "signedRenewalInfo",
      of: (line, place))
    if let renewal { line = line ?? result.renewals[renewal].text("originalTransactionId") }
    result.statuses.append(
      AppStoreResult.Entry(
        group: group, status: entry.present("status")?.integer, originalTransactionId: line,
        transaction: transaction, renewal: renewal))
  }

  private mutating func readNotifications(_ root: JSONValue) throws(Refusal) {
    // The status of a test notification has the members of one history entry.
    try readNotification(root, at: "")
    let entries = root.present("notificationHistory")?.elements ?? []
    for (index, entry) in entries.enumerated() {
      let path = "notificationHistory[" + String(index) + "]."
      try AppStoreResponseMembers.check(entry, at: path, &result.warnings)
      try readNotification(entry, at: path)
    }
  }

  private mutating func readNotification(
    _ entry: JSONValue, at path: String
  ) throws(Refusal) {
    let place = try verify(
      entry.present("signedPayload"), .notification, at: path + "signedPayload")
    for (index, attempt) in (entry.present("sendAttempts")?.elements ?? []).enumerated() {
      try AppStoreResponseMembers.check(
        attempt, at: path + "sendAttempts[" + String(index) + "].", &result.warnings)
      result.attempts.append(
        AppStoreResult.Attempt(
          notification: place, dateMs: attempt.present("attemptDate")?.integer,
          result: attempt.present("sendAttemptResult")?.text))
    }
  }
}

extension JSONValue {
  fileprivate var elements: [JSONValue] { Array(children) }
}
