/// A sign-in notification: a change of an account that uses Sign in with Apple
/// (docs/spec/apple-id.md §3). Created only by a verification.
struct AppleNotification: Sendable {
  private let claims: TokenClaims
  private let tokenId: Text
  /// The event; `nil` if the token has none and so is no notification.
  private let event: JSONValue?

  private static let idBytes = 1...255
  private static let textBytes = 1024

  /// Checks the types of the claims (AID-10) and of the event (AID-11), before any value is
  /// checked.
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

  /// Returns the JSON object that the text of the claim contains.
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

  /// Requires an event, without which a token is no notification (AID-11), with the id of an
  /// account (TOK-28).
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

  /// The type of the event; older notifications have `account-delete` for `account-deleted`.
  private var type: Text? {
    guard let type = event?.member("type") else { return nil }
    return type.isText("account-delete") ? "account-deleted" : type.text
  }

  /// The length of the signed claims in bytes, from which the document's size is estimated.
  var payloadBytes: Int { claims.object.json.bytes.count }

  func writeWarnings(_ writer: inout JSONWriter) {
    guard let type, !AppleNotification.types.contains(where: { type.utf8[...].elementsEqual($0) })
    else { return }
    Warning.write([Warning("unknown-value", at: AppleNotification.place("type"))], &writer)
  }

  /// Writes the value of the member `appleIdEvent`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", type)
    writer.member("subject", event?.member("sub")?.text)
    writer.member("eventAtMs", integer: eventAtMs)
    writer.member("email", event?.member("email")?.text)
    writer.member("privateEmail", boolean: AppleIdentity.flag(event?.member("is_private_email")))
    writer.texts("audience", claims.list("aud"))
    writer.member("tokenId", tokenId)
    writer.member("issuedAtMs", integer: claims.seconds("iat").map { $0 &* 1000 })
    writer.name("payload")
    writer.raw(claims.object.json.bytes)
    writer.endObject()
  }

  /// The time of the event in milliseconds since 1970 UTC. Apple sends seconds or milliseconds:
  /// 10^12 and above are milliseconds.
  private var eventAtMs: Int64? {
    event?.member("event_time")?.integer.map { $0 < 1_000_000_000_000 ? $0 &* 1000 : $0 }
  }
}
