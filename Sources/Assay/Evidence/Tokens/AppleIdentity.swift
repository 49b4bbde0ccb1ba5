/// What an identity token of Sign in with Apple says beside the claims of every token
/// (docs/spec/apple-id.md §2).
struct AppleIdentity: Sendable {
  private let object: JSONValue
  /// AID-5: what came of the comparison.
  private var nonce: StaticString = "not-demanded"

  private static let textBytes = 1024
  private static let texts: [StaticString] = [
    "email", "nonce", "c_hash", "at_hash", "transfer_sub", "org_id",
  ]
  private static let flags: [StaticString] = [
    "email_verified", "is_private_email", "nonce_supported",
  ]

  /// AID-1, AID-2: types before values.
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

  /// Apple writes booleans as texts, too.
  @inline(never)
  static func flag(_ value: JSONValue?) -> Bool? {
    guard let value else { return nil }
    if value.isText("true") { return true }
    return value.isText("false") ? false : value.boolean
  }

  private func flag(_ name: StaticString) -> Bool? { AppleIdentity.flag(object.member(name)) }

  /// AID-4, AID-5: whether the token was made for this sign-in.
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

  /// AID-7: a number that is not known is none of the words.
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
