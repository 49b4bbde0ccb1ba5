/// The parameters of a verifyReceipt exchange (VRR-20 … VRR-22).
struct VerifyReceiptTask: Sendable {
  /// Apple's endpoints (VRR-2).
  enum Endpoint: Equatable {
    case production, sandbox

    var environment: Environment { self == .production ? .production : .sandbox }
    var other: Endpoint { self == .production ? .sandbox : .production }
    var url: Text {
      switch self {
      case .production: return "https://buy.itunes.apple.com/verifyReceipt"
      case .sandbox: return "https://sandbox.itunes.apple.com/verifyReceipt"
      }
    }
  }

  let receipt: SubmittedReceipt
  let start: Endpoint
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  let attempt: Int64
  let excludeOldTransactions: Bool
  let password: SecretBytes?

  /// - Throws: `misuse.exchange.request`; the transport's refusals of a receipt;
  ///   `rejected.environment.not-accepted` if no endpoint may be asked.
  init(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ trust: ReceiptTrust,
    _ triage: Triage, attempt: Int64
  ) throws(Refusal) {
    func member(_ name: StaticString) -> MemberNode? {
      request[name]?.refusing(.misuseExchangeRequest, "VRR-22")
    }
    let isText = request["receipt"] != nil
    var text = try member("receipt")?.text().utf8 ?? []
    defer { Secret.wipe(&text) }
    let named = try member("start")?.choice(["Production", "Sandbox"])
    excludeOldTransactions = try member("excludeOldTransactions")?.boolean() ?? false
    try require(
      isText == evidence.isEmpty, .misuseExchangeRequest, "VRR-22", at: "receipt")
    if isText {
      receipt = try SubmittedReceipt(
        text: text, triage, cap: trust.configuration.receipts.inputBytes)
    } else if let proven = evidence.first.flatMap({ SubmittedReceipt($0) }) {
      receipt = proven
    } else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[0]")
    }
    start = try VerifyReceiptTask.start(
      named: named.map { $0 == 0 ? .production : .sandbox }, shown: receipt.environment,
      accepted: trust.configuration.environments)
    self.attempt = attempt
    password = trust.configuration.receipts.sharedSecrets.password(receipt.identity.bundleId)
  }

  /// Returns the first endpoint: that of the request, else that of the verified environment, else
  /// Production if the configuration accepts it (VRR-3, VRR-22).
  static func start(
    named: Endpoint?, shown: Environment?, accepted: [Environment]
  ) throws(Refusal) -> Endpoint {
    func isAccepted(_ endpoint: Endpoint) -> Bool { accepted.contains(endpoint.environment) }
    if let named {
      try require(isAccepted(named), .rejectedEnvironmentNotAccepted, "VRR-22", at: "start")
      return named
    }
    switch shown {
    case .sandbox: return .sandbox
    case .xcode, .localTesting:
      // Xcode and local tests sign such a receipt themselves: Apple does not know it.
      throw Refusal(.rejectedEnvironmentNotAccepted, "VRR-22", at: "evidence[0]")
    case .production, nil: break
    }
    if isAccepted(.production) { return .production }
    try require(isAccepted(.sandbox), .rejectedEnvironmentNotAccepted, "VRR-22", at: "start")
    return .sandbox
  }

  /// Returns the HTTP request, whose body is secret (VRR-1, VRR-20).
  func request(to endpoint: Endpoint) -> HTTPRequest {
    // The space is reserved, because a buffer that grows leaves copies of a secret behind.
    var writer = JSONWriter(capacity: receipt.data.bytes.count &+ 160)
    writer.beginObject()
    writer.name("receipt-data")
    writer.string(utf8: receipt.data.bytes)
    if let password {
      writer.name("password")
      writer.string(utf8: password.bytes)
    }
    if receipt.isAppReceipt {
      writer.member("exclude-old-transactions", boolean: excludeOldTransactions)
    }
    writer.endObject()
    return HTTPRequest(
      method: "POST", url: endpoint.url,
      headers: [("Content-Type", "application/json"), ("Accept", "application/json")],
      body: SecretBytes(writer.bytes), timeoutMs: 20_000,
      maxResponseBytes: Int64(ReceiptResponseReading.bodyCap), responseHeaders: ["retry-after"],
      sensitivePaths: ["body"])
  }
}
