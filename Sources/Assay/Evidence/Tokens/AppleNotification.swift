/// What Apple tells about an account that signs in with it (docs/spec/apple-id.md §3).
/// Only a verification makes one.
struct AppleNotification: Sendable {
  private let claims: TokenClaims
  private let tokenId: Text
  /// nil: the token is no notification.
  private let event: JSONValue?

  private static let idBytes = 1...255
  private static let textBytes = 1024

  /// AID-10, AID-11: types before values.
  init(_ claims: TokenClaims) throws(Refusal) {
    self.claims = claims
    try require(
      claims.object.member("aud")?.kind != .array, .malformedTokenClaim, "AID-1", at: "aud")
    guard let tokenId = claims.text("jti"), AppleNotification.idBytes.contains(tokenId.count)
    else { throw Refusal(.malformedTokenClaim, "AID-10", at: "jti") }
    self.tokenId = tokenId
    guard let text = claims.object.member("events") else {
      event = nil
      return
    }
    let event = try AppleNotification.object(text)
    try AppleNotification.check(event)
    self.event = event
  }

  /// A text that holds one JSON object.
  private static func object(_ claim: JSONValue) throws(Refusal) -> JSONValue {
    guard let text = claim.text else {
      throw Refusal(.malformedTokenClaim, "AID-11", at: "events")
    }
    do {
      return try JSONReader.readObject(text.utf8).root
    } catch {
      throw Refusal(
        .malformedTokenClaim, "AID-11", at: "events",
        detail: Text(stringLiteral: error.status.name).string)
    }
  }

  private static func check(_ event: JSONValue) throws(Refusal) {
    for name in ["type", "sub"] as [StaticString] {
      let text = event.member(name)?.text
      try require(
        text.map { !$0.isEmpty && $0.count <= textBytes } == true, .malformedTokenClaim,
        "AID-11", at: place(name))
    }
    if let email = event.member("email") {
      try require(
        (email.text?.count ?? .max) <= textBytes, .malformedTokenClaim, "AID-11",
        at: place("email"))
    }
    if let flag = event.member("is_private_email") {
      try require(
        AppleIdentity.flag(flag) != nil, .malformedTokenClaim, "AID-11",
        at: place("is_private_email"))
    }
    guard let time = event.member("event_time") else { return }
    try require(
      time.integer.map { $0 >= 0 && $0 <= MemberNode.exactInteger } == true,
      .malformedTokenClaim, "AID-11", at: place("event_time"))
  }

  private static func place(_ name: StaticString) -> String {
    "events." + Text(stringLiteral: name).string
  }

  /// AID-11: a token without events is none; TOK-28 for the account.
  func checkUse() throws(Refusal) {
    guard let event else { throw Refusal(.rejectedTokenUse, "AID-11", at: "events") }
    try require(
      TokenVerification.isSubject(event.member("sub")?.text), .rejectedTokenSubject, "TOK-28",
      at: AppleNotification.place("sub"))
  }

  // MARK: document

  private static let types: [StaticString] = [
    "email-disabled", "email-enabled", "consent-revoked", "account-deleted",
  ]

  /// Older texts have another word for one of them.
  private var type: Text? {
    guard let type = event?.member("type") else { return nil }
    return type.isText("account-delete") ? "account-deleted" : type.text
  }

  /// Bytes of the signed claims, for the size of the document.
  var payloadBytes: Int { claims.object.json.bytes.count }

  func writeWarnings(_ writer: inout JSONWriter) {
    guard let type, !AppleNotification.types.contains(where: { type.utf8[...].elementsEqual($0) })
    else { return }
    Warning.write([Warning("unknown-value", at: AppleNotification.place("type"))], &writer)
  }

  /// The value of `appleIdEvent`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", type)
    writer.member("subject", event?.member("sub")?.text)
    writer.member("eventMs", integer: eventMs)
    writer.member("email", event?.member("email")?.text)
    writer.member("privateEmail", boolean: AppleIdentity.flag(event?.member("is_private_email")))
    writer.texts("audience", claims.list("aud"))
    writer.member("tokenId", tokenId)
    writer.member("issuedMs", integer: claims.seconds("iat").map { $0 &* 1000 })
    writer.name("payload")
    writer.raw(claims.object.json.bytes)
    writer.endObject()
  }

  /// 10^12 and above are milliseconds, below that seconds.
  private var eventMs: Int64? {
    event?.member("event_time")?.integer.map { $0 < 1_000_000_000_000 ? $0 &* 1000 : $0 }
  }
}
