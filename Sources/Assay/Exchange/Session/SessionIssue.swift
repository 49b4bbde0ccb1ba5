/// `issue-session`: issues a session token for one attestation or assertion (docs/spec/session.md
/// §1). The host has consumed the challenge and stored the key or its counter before.
struct SessionIssue: CallResult {
  private let text: SecretBytes
  private let claims: SessionClaims

  private static let lives: ClosedRange<Int64> = 1...3_600_000
  private static let bindings = 1...255

  /// - Throws: `config.exchange.block-missing`, `misuse.exchange.evidence` for evidence that was
  ///   not verified as live, `misuse.ledger.account`, `misuse.exchange.request`.
  init(_ context: OperationContext) throws(Refusal) {
    let (request, nowMs) = (context.request, context.nowMs)
    let policy = try SessionToken.policy(context.configuration)
    guard let evidence = SessionEvidence(context.evidence.first), !evidence.isStored
    else { throw Refusal(.misuseExchangeEvidence, "EXC-13", at: "evidence[0]") }
    guard let secret = policy.secrets.first else {
      throw Refusal(.internalAssayBug, "EXC-8", at: "session.secrets")
    }
    let account = try SessionIssue.account(try request.required("account"))
    let life =
      try request["ttlMs"]?.refusing(.misuseExchangeRequest, "SES-4").integer(SessionIssue.lives)
      ?? policy.ttlMs
    claims = SessionClaims(
      secretId: secret.id, account: account, keyId: evidence.keyId, appId: evidence.appId,
      isProduction: evidence.isProduction, verdict: try SessionIssue.verdict(request),
      risk: try SessionIssue.risk(request), binding: try SessionIssue.binding(request),
      issuedAtMs: nowMs, expiresAtMs: nowMs &+ life)
    var writer = JSONWriter(capacity: SessionToken.byteCap)
    claims.write(&writer)
    defer { writer.wipe() }
    text = SessionToken.make(writer.bytes, secret.bytes)
  }

  // MARK: members

  /// Reads the account id: 1 to 255 bytes, as in the ledger.
  private static func account(_ given: MemberNode) throws(Refusal) -> Text {
    let entry = given.refusing(.misuseLedgerAccount, "SES-1")
    let account = try entry.text(1...255)
    try require(
      !account.hasControlCharacter && account.utf8.first != 0x20 && account.utf8.last != 0x20,
      entry)
    return account
  }

  private static func verdict(
    _ request: ExchangeRequest
  ) throws(Refusal) -> SessionClaims.Verdict {
    guard let entry = request["verdict"]?.refusing(.misuseExchangeRequest, "SES-1") else {
      return .allow
    }
    let place = try entry.choice(SessionClaims.Verdict.names)
    return SessionClaims.Verdict(rawValue: place) ?? .limited
  }

  /// Reads the risk metric of the App Attest receipt.
  private static func risk(_ request: ExchangeRequest) throws(Refusal) -> Int64? {
    guard let entry = request["risk"]?.refusing(.misuseExchangeRequest, "SES-1"),
      !entry.value.isNull
    else { return nil }
    return try entry.integer(SessionClaims.risks)
  }

  private static func binding(_ request: ExchangeRequest) throws(Refusal) -> Text? {
    guard let entry = request["binding"]?.refusing(.misuseExchangeRequest, "SES-1") else {
      return nil
    }
    return SessionClaims.binding(try entry.text(SessionIssue.bindings))
  }

  var room: Int { text.bytes.count }

  /// Writes `"session":{"text","issuedAtMs","expiresAtMs","keyId"}` and the path of the secret.
  func write(_ writer: inout JSONWriter) {
    writer.name("session")
    writer.beginObject()
    writer.name("text")
    writer.string(utf8: text.bytes)
    writer.member("issuedAtMs", integer: claims.issuedAtMs)
    writer.member("expiresAtMs", integer: claims.expiresAtMs)
    writer.member("keyId", claims.keyId)
    writer.endObject()
    writer.name("sensitivePaths")
    writer.beginArray()
    writer.string("session.text")
    writer.endArray()
  }
}
