import Foundation

/// The addresses of the back end and of the provider.
nonisolated public struct Places: Sendable {
  let server: URL
  let provider: URL
  let clientId: String

  /// Creates the addresses. `provider` is `https://cognito-idp.<region>.amazonaws.com/`.
  public init(server: URL, provider: URL, clientId: String) {
    (self.server, self.provider, self.clientId) = (server, provider, clientId)
  }
}

/// The access tokens of this installation. Concurrent callers share one sign-in.
public actor Account {
  private struct Token {
    let text: String
    let ends: Date
  }

  private let places: Places
  private let store: CredentialStore
  private let key: DeviceKey?
  private var token: Token?
  private var signingIn: Task<Token, Error>?

  /// Creates the account. `key` is `DeviceKey.shared` if the back end has `attestSignup`.
  public init(places: Places, store: CredentialStore, key: DeviceKey? = nil) {
    self.places = places
    self.store = store
    self.key = key
  }

  /// Returns a token that is valid for at least a minute. It is never written to disk. Throws a
  /// DCError, for `DeviceTrouble`, if the sign-up needs a proof of the device and there is none yet.
  public func accessToken() async throws -> String {
    if let token, token.ends.timeIntervalSinceNow > 60 { return token.text }
    let task = signingIn ?? Task { try await signIn() }
    signingIn = task
    return try await task.value.text
  }

  /// Returns the user name, which identifies the account; `nil` if there is none yet.
  public func username() throws -> String? { try store.read()?.username }

  /// Discards a token that the server refused, so that the next call signs in again.
  func dropToken(_ refused: String? = nil) {
    if refused == nil || refused == token?.text { token = nil }
  }

  /// Replaces the anonymous account by the merged account of the upgrade.
  func become(_ credentials: Credentials) throws {
    leave()
    try store.keep(credentials)
  }

  func forget() throws {
    leave()
    try store.forget()
  }

  /// Cancels a sign-in in progress, which belongs to the previous account and must not set the
  /// token of the new one.
  private func leave() {
    token = nil
    signingIn?.cancel()
    signingIn = nil
  }

  private func signIn() async throws -> Token {
    defer { if !Task.isCancelled { signingIn = nil } }
    let known = try kept()
    var found = try await open(known)
    if found == nil { found = try await another(than: known) }
    try Task.checkCancellation()
    guard let found else { throw AccountError.provider("NotAuthorizedException") }
    token = found
    return found
  }

  /// Signs in with new credentials. If they fail too, the fault is the provider's, and the old ones
  /// are restored.
  private func another(than known: Credentials) async throws -> Token? {
    try Task.checkCancellation()
    let made = try Credentials.make()
    try store.keep(made)
    do {
      if let found = try await open(made) { return found }
    } catch AccountError.provider {}
    try Task.checkCancellation()
    try store.keep(known)
    return nil
  }

  private func kept() throws -> Credentials {
    if let found = try store.read() { return found }
    let made = try Credentials.make()
    try store.keep(made)
    return made
  }

  /// Signs in, or signs up and in; `nil` if neither accepts these credentials, now or later.
  private func open(_ credentials: Credentials) async throws -> Token? {
    if let found = try await initiateAuth(credentials) { return found }
    let isNew = try await signUp(credentials)
    if let found = try await initiateAuth(credentials) { return found }
    if isNew { throw AccountError.provider("NotAuthorizedException") }
    return nil
  }

  /// Signs in; `nil` if the user does not exist, is disabled, or its sign-up was not completed.
  private func initiateAuth(_ credentials: Credentials) async throws -> Token? {
    struct Given: Encodable {
      let AuthFlow = "USER_PASSWORD_AUTH"
      let ClientId: String
      let AuthParameters: [String: String]
    }
    struct Said: Decodable {
      struct Result: Decodable { let AccessToken: String; let ExpiresIn: Double }
      let AuthenticationResult: Result?
    }
    var request = URLRequest(url: places.provider)
    request.setValue(
      "AWSCognitoIdentityProviderService.InitiateAuth",
      forHTTPHeaderField: "X-Amz-Target")
    request.setValue("application/x-amz-json-1.1", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(
      Given(
        ClientId: places.clientId,
        AuthParameters: ["USERNAME": credentials.username, "PASSWORD": credentials.password]))
    let answer = try await self.answer(to: request)
    if answer.status == 400 {
      let type = try Self.refusal(answer.data)
      if Self.closed.contains(type) { return nil }
      throw AccountError.provider(type)
    }
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    let said = try JSONDecoder().decode(Said.self, from: answer.data)
    guard let result = said.AuthenticationResult else { return nil }
    return Token(text: result.AccessToken, ends: Date(timeIntervalSinceNow: result.ExpiresIn))
  }

  private static let closed = [
    "UserNotFoundException", "NotAuthorizedException", "UserNotConfirmedException",
    "PasswordResetRequiredException",
  ]

  /// Returns the type of a refusal, without the namespace that may precede `#`. Too many attempts
  /// are a NotAuthorizedException too, but a temporary one.
  private static func refusal(_ data: Data) throws -> String {
    struct Refused: Decodable { let __type: String; let message: String? }
    let refused = try JSONDecoder().decode(Refused.self, from: data)
    if refused.message?.contains("attempts exceeded") == true { return "attempts exceeded" }
    return refused.__type.split(separator: "#").last.map(String.init) ?? refused.__type
  }

  /// Returns whether an account was created. 409: an account has this name. 400: the name is that
  /// of a merged account, which only Sign in with Apple creates.
  private func signUp(_ credentials: Credentials) async throws -> Bool {
    var answer = try await post("v1/signup", SignUp(credentials: credentials, proof: nil))
    if answer.wantsAttestation, let key { answer = try await attestSignup(credentials, key) }
    switch answer.status {
    case 200: return true
    case 400, 409: return false
    default: throw AccountError.server(answer.status)
    }
  }

  /// Signs up with an attested key, or with the statement that this device cannot attest. After an
  /// error the next sign-in continues with the same key.
  private func attestSignup(_ credentials: Credentials, _ key: DeviceKey) async throws -> Answer {
    try await key.attest(
      "sign-up of \(credentials.username)", challenge: { try await self.challenge(credentials) }
    ) { proof in
      try await self.post("v1/signup", SignUp(credentials: credentials, proof: proof))
    }
  }

  /// Returns the challenge for a device that has no account yet. It is for this user name, and is
  /// used once.
  private func challenge(_ credentials: Credentials) async throws -> Challenge {
    let answer = try await post("v1/signup/challenge", ["username": credentials.username])
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    return try JSONDecoder().decode(Challenge.self, from: answer.data)
  }

  private func post(_ path: String, _ body: some Encodable) async throws -> Answer {
    var request = URLRequest(url: places.server.appendingPathComponent(path))
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(body)
    return try await answer(to: request)
  }

  private func answer(to asked: URLRequest) async throws -> Answer {
    var request = asked
    request.httpMethod = "POST"
    request.timeoutInterval = 30
    let (data, response) = try await URLSession.shared.data(for: request)
    return Answer(data, response)
  }
}

/// The body of a sign-up.
nonisolated private struct SignUp: Encodable, Sendable {
  let credentials: Credentials
  let proof: DeviceProof?

  func encode(to encoder: Encoder) throws {
    try credentials.encode(to: encoder)
    try proof?.encode(to: encoder)
  }
}
