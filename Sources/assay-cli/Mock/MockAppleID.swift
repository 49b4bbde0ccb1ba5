import AssayAuthority

/// Mocks Sign in with Apple (docs/spec/apple-id.md): its keys, the exchange of a code that
/// `/play/sign-in` made, and revocation.
struct MockAppleID: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  private static let codeLifeMs: Int64 = 300_000
  private static let longestSecret: Int64 = 15_777_000

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    switch (request.method, request.path) {
    case ("GET", "/auth/keys"):
      return try MockKeySets.answer(request, TokenAuthority.apple, &state, signer.fault)
    case ("POST", "/auth/token"): return try token(&state)
    case ("POST", "/auth/revoke"): return revoke(state)
    case (_, "/auth/keys"), (_, "/auth/token"), (_, "/auth/revoke"): return .empty(405)
    default: return .empty(404)
    }
  }

  private func member(_ name: String) -> String? { request.form.first { $0.name == name }?.value }

  private func refused(_ error: String) -> HTTPResponse {
    .json(["error": .string(error)], status: 400)
  }

  /// Returns the client that the secret proves; `nil` if the secret is not valid.
  private func client(at now: Int64) -> String? {
    let authority = signer.authority
    guard let client = member("client_id"),
      let secret = member("client_secret").flatMap({ WebToken($0) }),
      secret.isSigned(by: authority.appleIdKey, keyId: MockAuthority.appleIdKeyId),
      secret.claims["iss"]?.text == authority.app.teamId,
      secret.claims["aud"]?.text == TokenAuthority.apple, secret.claims["sub"]?.text == client,
      secret.second("exp") != nil, secret.isCurrent(at: now, longest: Self.longestSecret)
    else { return nil }
    return client
  }

  private func token(_ state: inout MockState) throws -> HTTPResponse {
    let now = state.clock.now
    guard let client = client(at: now) else { return refused("invalid_client") }
    guard let kind = member("grant_type"), let code = member("code") else {
      return refused("invalid_request")
    }
    guard kind == "authorization_code" else { return refused("unsupported_grant_type") }
    guard let known = state.codes[code], !known.isUsed, known.clientId == client,
      now <= known.madeMs + Self.codeLifeMs
    else { return refused("invalid_grant") }
    state.codes[code]?.isUsed = true
    let identity = try MockAppleID.identity(known, state, signer.fault)
    return .json([
      "access_token": .string(state.name("access")), "token_type": "Bearer", "expires_in": 3600,
      "refresh_token": .string("r" + state.name("refresh")), "id_token": .string(identity),
    ])
  }

  /// Returns an identity token about that sign-in.
  static func identity(
    _ code: MockAppleCode, _ state: MockState, _ fault: MockFault
  ) throws -> String {
    let second = state.clock.now / 1000
    var claims: JSONText = [
      "iss": .string(TokenAuthority.apple),
      "aud": .string(fault.isOtherApp ? MockSigner.otherBundle : code.clientId),
      "exp": .integer(second + 86_340), "iat": .integer(second - 1),
      "sub": .string(code.subject),
    ]
    if let nonce = code.nonce { claims = claims.appending("nonce", .string(nonce)) }
    claims = claims.setting([
      ("email", .string("player@privaterelay.example.com")), ("email_verified", "true"),
      ("is_private_email", "true"), ("auth_time", .integer(second - 1)),
      ("nonce_supported", true), ("real_user_status", 2),
    ])
    guard let ring = state.rings[TokenAuthority.apple] else { throw Problem("there are no keys") }
    return try ring.signed(claims, isBad: fault.hasBadSignature)
  }

  private func revoke(_ state: MockState) -> HTTPResponse {
    guard client(at: state.clock.now) != nil else { return refused("invalid_client") }
    guard member("token")?.isEmpty == false else { return refused("invalid_request") }
    return .empty(200)
  }
}
