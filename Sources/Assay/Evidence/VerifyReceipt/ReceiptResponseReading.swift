/// The checks of an answer of verifyReceipt in the order in which they are made
/// (docs/spec/receipts-triage.md §2).
enum ReceiptResponseCheck: Int, CheckList {
  case size, json, kind, status, fields, bundle, environment, app

  static let ids: [StaticString] = [
    "answer.size", "answer.json", "answer.kind", "answer.status", "answer.fields",
    "identity.bundle", "identity.environment", "identity.app",
  ]
}

/// Reads one body of Apple's verifyReceipt endpoint: what it says, and whether it
/// is about an app, an environment and an account of purchases that this verifier
/// accepts.
///
/// What was submitted is not known here: the conversation compares the answer with
/// it (VRR-16).
struct ReceiptResponseReading {
  /// Longer bodies are refused (VRR-15).
  static let bodyCap = 8 * 1024 * 1024

  private let trust: ReceiptTrust
  private let nowMs: Int64
  /// Whose endpoint answered; nil: that is not known.
  private let endpoint: Environment?
  private(set) var checks = Checks<ReceiptResponseCheck>()
  /// `status` of the answer, once it was read.
  private(set) var appleStatus: Int64? = nil

  init(_ trust: ReceiptTrust, endpoint: Environment? = nil, nowMs: Int64) {
    self.trust = trust
    self.endpoint = endpoint
    self.nowMs = nowMs
  }

  /// Runs every step; the first that fails gives the refusal, whose retry class
  /// says what to do next.
  mutating func run(_ body: [UInt8]) throws(Refusal) -> ReceiptResponse {
    checks.enter(.size)
    try require(body.count <= Self.bodyCap, .tooLargeVerifyReceiptBody, "VRR-15")
    checks.enter(.json)
    let root = try Self.object(body)
    checks.enter(.kind)
    try Self.refuseNotification(root)
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

  /// VRR-4: only a JSON object is an answer. Whatever else came — nothing, a page
  /// from a proxy, half a body — says nothing about the receipt.
  private static func object(_ body: [UInt8]) throws(Refusal) -> JSONValue {
    do {
      return try JSONReader.readObject(body, caps: .receiptAnswer).root
    } catch {
      let place = "byte " + String(error.offset)
      switch error.reason {
      case .utf8, .bom, .syntax, .trailing, .nul, .notObject:
        throw Refusal(.unavailableVerifyReceiptNoAnswer, "VRR-4", at: place)
      case .duplicateName: throw Refusal(.malformedVerifyReceiptBody, "VRR-15", at: place)
      case .elements: throw Refusal(.tooLargeVerifyReceiptEntries, "VRR-15", at: place)
      case .depth, .members, .name, .number:
        throw Refusal(.tooLargeVerifyReceiptBody, "VRR-15", at: place)
      }
    }
  }

  /// VRR-14: version 1 server notifications look like answers, and no one signed
  /// them.
  private static func refuseNotification(_ root: JSONValue) throws(Refusal) {
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

  /// VRR-18: the one part of an answer that is signed. A receipt that does not
  /// verify is reported; it does not refuse the answer.
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
