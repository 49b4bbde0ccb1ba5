/// The claims of a token whose signature has been verified, each of its required type (TOK-22).
struct TokenClaims: Sendable {
  let object: JSONValue

  private static let times: [StaticString] = ["exp", "iat", "nbf", "auth_time"]
  private static let texts: [StaticString] = [
    "iss", "sub", "client_id", "token_use", "scope", "username", "jti", "origin_jti",
  ]

  /// Checks the types of the claims, before any value is checked.
  init(_ object: JSONValue) throws(Refusal) {
    self.object = object
    for name in TokenClaims.times where object.member(name) != nil {
      try require(
        seconds(name) != nil, .malformedTokenTime, "TOK-22", at: Text(stringLiteral: name).string)
    }
    for name in TokenClaims.texts {
      try TokenClaims.check(object.member(name)?.kind ?? .string, name)
    }
    try checkList("aud", mayBeText: true)
    try checkList("cognito:groups", mayBeText: false)
  }

  private func checkList(_ name: StaticString, mayBeText: Bool) throws(Refusal) {
    guard let value = object.member(name), !(mayBeText && value.kind == .string) else { return }
    try require(
      value.kind == .array && value.children.allSatisfy { $0.kind == .string },
      .malformedTokenClaim, "TOK-22", at: Text(stringLiteral: name).string)
  }

  private static func check(_ kind: JSON.Kind, _ name: StaticString) throws(Refusal) {
    try require(
      kind == .string, .malformedTokenClaim, "TOK-22", at: Text(stringLiteral: name).string)
  }

  // MARK: values

  /// Returns a time in seconds since 1970 UTC: a plain integer of 1 … 2^53 − 1; `nil` if absent.
  @inline(never)
  func seconds(_ name: StaticString) -> Int64? {
    guard let time = object.member(name)?.integer, time >= 1, time <= MemberNode.exactInteger
    else { return nil }
    return time
  }

  @inline(never)
  func text(_ name: StaticString) -> Text? { object.member(name)?.text }

  /// Returns a list claim; a single text is a list of one.
  @inline(never)
  func list(_ name: StaticString) -> [Text] {
    guard let value = object.member(name) else { return [] }
    if let text = value.text { return [text] }
    return value.children.compactMap { $0.text }
  }

  /// The claim `scope`, split at spaces.
  var scopes: [Text] {
    (text("scope")?.utf8 ?? []).split(separator: 0x20).map { Text(Array($0)) }
  }
}
