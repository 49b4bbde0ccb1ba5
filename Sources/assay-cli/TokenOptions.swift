import AssayAuthority

/// The options for minting tokens and the key set that verifies them.
struct TokenOptions: ParsableArguments {
  static let kinds: Set<String> = ["token", "keyset"]

  @Option(
    help: "Whose token: cognito-access, jwt or apple-id.",
    completion: .values(["cognito-access", "jwt", "apple-id"]))
  var profile = "cognito-access"

  @Option(help: "Issuer of a token, or of the key set.")
  var issuer: String?

  @Option(help: "For whom the token is: aud.")
  var audience: String?

  @Option(help: "App client of a Cognito token.")
  var client: String?

  @Option(help: "Account: sub.")
  var subject: String?

  @Option(help: "Nonce of an identity token: what the app handed to Apple.")
  var nonce: String?

  @Option(help: "A notification of Apple's in place of an identity token, like account-deleted.")
  var appleEvent: String?

  @Option(help: "When it was issued; without it, a minute before now.")
  var issued: String?

  @Option(help: "Seconds from then to its end.")
  var life: Int64 = 3600

  @Option(help: "Algorithm: RS256 or ES256.", completion: .values(["RS256", "ES256"]))
  var alg = "RS256"

  @Option(help: "Key id, in place of that of the key.")
  var kid: String?

  func validate() throws {
    guard ["cognito-access", "jwt", "apple-id"].contains(profile) else {
      throw UsageFault(
        "--profile \(Terminal.safe(profile)): there are cognito-access, jwt and apple-id")
    }
    guard alg == "RS256" || alg == "ES256" else {
      throw UsageFault("--alg \(Terminal.safe(alg)): give RS256 or ES256")
    }
    guard (-315_360_000...315_360_000).contains(life) else {
      throw UsageFault("--life \(life): give seconds, at most ten years")
    }
    guard profile == "apple-id" || (nonce == nil && appleEvent == nil) else {
      throw UsageFault("--nonce and --apple-event go with --profile apple-id alone")
    }
    guard profile == "cognito-access" || client == nil else {
      throw UsageFault("--client goes with --profile cognito-access alone")
    }
  }

  // MARK: what is minted

  private var usualIssuer: String {
    switch profile {
    case "jwt": return alg == "ES256" ? TokenAuthority.ellipticIssuer : TokenAuthority.jwtIssuer
    case "apple-id": return TokenAuthority.apple
    default: return TokenAuthority.pool
    }
  }

  /// Returns the key set as the exchange `fetch-keyset` returns it, without a date.
  func keyset(_ authority: TokenAuthority) throws -> JSONText {
    try authority.keyset(issuer: issuer ?? usualIssuer)
  }

  /// Returns the claims before --set and --remove.
  func claims(_ authority: TokenAuthority) throws -> JSONText {
    var claims: JSONText
    switch (profile, appleEvent) {
    case ("jwt", _): claims = authority.jwtClaims(issuer: usualIssuer)
    case ("apple-id", let event?):
      claims = authority.appleNotificationClaims(
        authority.appleEvent(event, subject: subject))
    case ("apple-id", nil): claims = authority.appleClaims()
    default: claims = authority.cognitoClaims
    }
    for (name, value) in [
      ("iss", issuer), ("aud", audience), ("client_id", client),
      // A notification names the account in its event.
      ("sub", appleEvent == nil ? subject : nil), ("nonce", nonce),
    ] {
      if let value { claims = claims.setting(name, .string(value)) }
    }
    let start = try issued.map { try MintedValues.date($0, "--issued") } ?? authority.now - 60_000
    return claims.setting("iat", .integer(start / 1000))
      .setting("exp", .integer(start / 1000 + life))
  }

  /// Returns the finished text.
  func token(_ claims: JSONText, _ authority: TokenAuthority) throws -> [UInt8] {
    let template = alg == "ES256" ? authority.es256(claims) : authority.rs256(claims)
    return try template.with {
      if let kid { $0.header = $0.header.setting("kid", .string(kid)) }
    }.signed()
  }
}
