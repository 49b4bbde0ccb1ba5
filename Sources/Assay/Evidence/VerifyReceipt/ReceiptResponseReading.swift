/// The checks of a verifyReceipt response, in the order in which they are made
/// (docs/spec/receipts-triage.md §2).
enum ReceiptResponseCheck: Int, CheckList {
  case size, json, kind, status, fields, bundle, environment, app

  static let ids: [StaticString] = [
    "answer.size", "answer.json", "answer.kind", "answer.status", "answer.fields",
    "identity.bundle", "identity.environment", "identity.app",
  ]
}

/// Reads one body of Apple's verifyReceipt endpoint, and checks that it is about an app and an
/// environment that this verifier accepts.
///
/// The submitted receipt is unknown here: the exchange compares the response with it (VRR-16).
struct ReceiptResponseReading {
  /// The longest body that is read, in bytes (VRR-15).
  static let bodyCap = 8 * 1024 * 1024

  private let trust: ReceiptTrust
  private let nowMs: Int64
  /// The environment of the endpoint that responded; `nil` if unknown.
  private let endpoint: Environment?
  private(set) var checks = Checks<ReceiptResponseCheck>()
  /// The `status` of the response; `nil` until it has been read.
  private(set) var appleStatus: Int64? = nil

  init(_ trust: ReceiptTrust, endpoint: Environment? = nil, nowMs: Int64) {
    self.trust = trust
    self.endpoint = endpoint
    self.nowMs = nowMs
  }

  /// Runs all checks; the first that fails determines the refusal, whose retry class tells the
  /// host whether to call Apple again.
  mutating func run(_ body: [UInt8]) throws(Refusal) -> ReceiptResponse {
    checks.enter(.size)
    try require(body.count <= Self.bodyCap, .tooLargeVerifyReceiptBody, "VRR-15")
    checks.enter(.json)
    let root = try Self.object(body)
    checks.enter(.kind)
    try Self.refuseOthers(root)
    checks.enter(.status)
    guard let code = root.present("status")?.integer else {
      throw Refusal(.malformedVerifyReceiptBody, "VRR-4", at: "status")
    }
    appleStatus = code
    let status = try AppleReceiptStatus(
      code, in: root, accepted: trust.configuration.environments)
    checks.enter(.fields)
    let parts = try ReceiptResponseParts(root)
    let identity = try identity(of: parts)
    return ReceiptResponse(
      body, parts, status, identity, latestReceipt(parts.answer, identity), trust.configuration,
      nowMs: nowMs)
  }

  // MARK: the body

  /// Reads the body as a JSON object. Anything else (nothing, a proxy's page, half a body)
  /// contains no statement about the receipt, so that no response counts as received (VRR-4).
  private static func object(_ body: [UInt8]) throws(Refusal) -> JSONValue {
    do {
      return try JSONReader.readObject(body, caps: .receiptAnswer).root
    } catch {
      let place = "byte " + String(error.offset)
      switch error.reason {
      case .utf8, .bom, .syntax, .trailing, .nul, .notObject:
        throw Refusal(.unavailableVerifyReceiptNoResponse, "VRR-4", at: place)
      case .duplicateName: throw Refusal(.malformedVerifyReceiptBody, "VRR-15", at: place)
      case .elements: throw Refusal(.tooLargeVerifyReceiptEntries, "VRR-15", at: place)
      case .depth, .members, .name, .number:
        throw Refusal(.tooLargeVerifyReceiptBody, "VRR-15", at: place)
      }
    }
  }

  /// Refuses App Store Server Notifications V1, which resemble responses and are not signed
  /// (VRR-14), and the library's own answers, which are no word of Apple's (VRE-42).
  private static func refuseOthers(_ root: JSONValue) throws(Refusal) {
    try require(
      root.member("assay") == nil, .unsupportedVerifyReceiptOurs, "VRE-42", at: "assay")
    for name in ["unified_receipt", "notification_type"] as [StaticString] {
      try require(
        root.member(name) == nil, .unsupportedVerifyReceiptNotificationV1, "VRR-14",
        at: Text(stringLiteral: name).string)
    }
    try require(
      root.member("environment")?.text != "PROD", .unsupportedVerifyReceiptNotificationV1,
      "VRR-14", at: "environment")
  }

  // MARK: identity

  private mutating func identity(
    of parts: ReceiptResponseParts
  ) throws(Refusal) -> ReceiptResponse.Identity {
    let reading = ReceiptResponseIdentity(trust.configuration, parts, endpoint)
    checks.enter(.bundle)
    let app = try reading.app()
    checks.enter(.environment)
    let environment = try reading.environment()
    if environment?.environment == .production, reading.namesApp {
      checks.enter(.app)
      try reading.checkApp(app)
    } else {
      checks.skip(.app, .doesNotApply)
    }
    return ReceiptResponse.Identity(bundleId: app.bundleId, environment: environment)
  }

  // MARK: the signed part

  /// Verifies `latest_receipt`, the only signed part of a response. A receipt that is refused is
  /// reported; it does not refuse the response (VRR-18).
  private func latestReceipt(
    _ answer: ResponseFields, _ identity: ReceiptResponse.Identity
  ) -> ReceiptResponse.LatestReceipt? {
    guard let text = answer.text("latest_receipt"), !text.isEmpty else { return nil }
    let sha256 = Digest.sha256.of(text.utf8)
    do {
      let receipt = try verify(latestReceipt: text.utf8, of: identity)
      return ReceiptResponse.LatestReceipt(status: .ok, sha256: sha256, receipt: receipt)
    } catch {
      return ReceiptResponse.LatestReceipt(status: error.status, sha256: sha256, receipt: nil)
    }
  }

  private func verify(
    latestReceipt text: [UInt8], of identity: ReceiptResponse.Identity
  ) throws(Refusal) -> ReceiptResponse.LatestReceipt.Receipt {
    let transport = try Transport(text, cap: trust.configuration.receipts.inputBytes)
    let found: ReceiptResponse.LatestReceipt.Receipt
    let bundleId: Text?
    let environment: Environment?
    switch transport.form {
    case .list:
      var verification = TransactionReceiptVerification(trust, nowMs: nowMs)
      let receipt = try verification.run(transport)
      found = .transaction(receipt)
      bundleId = receipt.info.text(.bid)
      environment = receipt.environment.environment
    case .container:
      var verification = AppReceiptVerification(trust, subject: nil, nowMs: nowMs)
      let receipt = try verification.run(transport)
      found = .app(receipt)
      bundleId = receipt.bundleId
      environment = receipt.environment
    default: throw Refusal(.rejectedKindMismatch, "VRR-18", at: "latest_receipt")
    }
    let known = identity.environment?.environment
    try require(
      bundleId == identity.bundleId
        && (environment == nil || known == nil || environment == known),
      .rejectedVerifyReceiptMismatch, "VRR-16", at: "latest_receipt")
    return found
  }
}
