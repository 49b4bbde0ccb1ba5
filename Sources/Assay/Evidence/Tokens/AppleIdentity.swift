/// The claims of an identity token of Sign in with Apple that other tokens do not have
/// (docs/spec/apple-id.md §2).
struct AppleIdentity: Sendable {
  private let object: JSONValue
  /// The result of comparing the nonce, as the document reports it (AID-5).
  private var nonce: StaticString = "not-demanded"

  private static let textBytes = 1024
  private static let texts: [StaticString] = [
    "email", "nonce", "c_hash", "at_hash", "transfer_sub", "org_id",
  ]
  private static let flags: [StaticString] = [
    "email_verified", "is_private_email", "nonce_supported",
  ]

  /// Checks the types of the claims (AID-1, AID-2), before any value is checked.
  init(_ claims: TokenClaims) throws(Refusal) {
    object = claims.object
    try require(
      object.member("aud")?.kind != .array, .malformedTokenClaim, "AID-1", at: "aud")
    for name in AppleIdentity.texts {
      guard let value = object.member(name) else { continue }
      try require(
        (value.text?.count ?? .max) <= AppleIdentity.textBytes, .malformedTokenClaim, "AID-2",
        at: Text(stringLiteral: name).string)
    }
    for name in AppleIdentity.flags {
      guard let value = object.member(name) else { continue }
      try require(
        AppleIdentity.flag(value) != nil, .malformedTokenClaim, "AID-2",
        at: Text(stringLiteral: name).string)
    }
    if let value = object.member("real_user_status") {
      try require(
        value.integer != nil, .malformedTokenClaim, "AID-2", at: "real_user_status")
    }
  }

  /// Returns a boolean claim, which Apple also writes as the text "true" or "false"; `nil` for
  /// anything else.
  @inline(never)
  static func flag(_ value: JSONValue?) -> Bool? {
    guard let value else { return nil }
    if value.isText("true") { return true }
    return value.isText("false") ? false : value.boolean
  }

  private func flag(_ name: StaticString) -> Bool? { AppleIdentity.flag(object.member(name)) }

  /// Compares the token's nonce with the issued one (AID-4). A token without a nonce is refused
  /// unless the profile allows that (AID-5).
  mutating func judge(_ issued: IssuedNonce, _ profile: TokenProfile) throws(Refusal) {
    guard let said = object.member("nonce")?.text else {
      let isUnsupported = profile.nonce == .ifSupported && flag("nonce_supported") == false
      try require(
        isUnsupported || profile.nonce == .none, .rejectedTokenNonce, "AID-5", at: "nonce")
      nonce = isUnsupported ? "unsupported" : "not-demanded"
      return
    }
    guard let isSame = issued.matches(said, profile.nonceForm) else { return }
    try require(isSame, .rejectedTokenNonce, "AID-4", at: "nonce")
    nonce = "checked"
  }

  /// The name of real_user_status; `nil` for an unknown number (AID-7).
  private var realUser: StaticString? {
    switch object.member("real_user_status")?.integer {
    case 0: return "unsupported"
    case 1: return "unknown"
    case 2: return "likely-real"
    default: return nil
    }
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    guard object.member("real_user_status") != nil, realUser == nil else { return }
    Warning.write([Warning("unknown-value", at: "real_user_status")], &writer)
  }

  func write(_ writer: inout JSONWriter) {
    writer.member("email", object.member("email")?.text)
    writer.member("emailVerified", boolean: flag("email_verified"))
    writer.member("privateEmail", boolean: flag("is_private_email"))
    writer.name("realUser")
    if let realUser { writer.string(realUser) } else { writer.null() }
    writer.member("nonce", nonce)
    writer.member("transferSubject", object.member("transfer_sub")?.text)
  }
}
