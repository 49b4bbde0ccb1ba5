import Foundation

/// The addresses of the back end and of the provider.
nonisolated struct Places: Sendable {
  let server: URL
  let provider: URL  // https://cognito-idp.<region>.amazonaws.com/
  let clientId: String
}

/// The proof that a request comes from this app on a genuine device, as members of a body.
nonisolated struct DeviceProof: Encodable, Sendable {
  var keyId: String?
  var attestation: String?
  var assertion: String?
  var clientData: String?
  /// The code of DCError, from a device that cannot attest.
  var unsupported: Int?
}

/// The access tokens of this installation. Concurrent callers share one sign-in.
actor Account {
  private struct Token {
    let text: String
    let ends: Date
  }

  private let places: Places
  private let store: CredentialStore
  private let attest: (@Sendable (Data) async throws -> DeviceProof)?
  private var token: Token?
  private var signingIn: Task<Token, Error>?

  /// Creates the account. `attest` is `DeviceKey.shared.attestation` if the back end has
  /// `attestSignup`.
  init(
    places: Places, store: CredentialStore,
    attest: (@Sendable (Data) async throws -> DeviceProof)? = nil
  ) {
    self.places = places
    self.store = store
    self.attest = attest
  }

  /// Returns a token that is valid for at least a minute. It is never written to disk.
  func accessToken() async throws -> String {
    if let token, token.ends.timeIntervalSinceNow > 60 { return token.text }
    let task = signingIn ?? Task { try await signIn() }
    signingIn = task
    return try await task.value.text
  }

  /// Returns the user name, which identifies the account; `nil` if there is none yet.
  func username() throws -> String? { try store.read()?.username }

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
    let (status, data) = try await answer(to: request)
    if status == 400 {
      let type = try Self.refusal(data)
      if Self.closed.contains(type) { return nil }
      throw AccountError.provider(type)
    }
    guard status == 200 else { throw AccountError.server(status) }
    guard let result = try JSONDecoder().decode(Said.self, from: data).AuthenticationResult else {
      return nil
    }
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
    struct Given: Encodable {
      let credentials: Credentials
      let proof: DeviceProof?
      func encode(to encoder: Encoder) throws {
        try credentials.encode(to: encoder)
        try proof?.encode(to: encoder)
      }
    }
    var (status, _) = try await post("v1/signup", Given(credentials: credentials, proof: nil))
    if status == 401, let attest {
      let proof = try await attest(try await clientData(credentials.username))
      (status, _) = try await post("v1/signup", Given(credentials: credentials, proof: proof))
    }
    switch status {
    case 200: return true
    case 400, 409: return false
    default: throw AccountError.server(status)
    }
  }

  /// Returns what the device signs before it has an account; the same bytes are sent, too.
  private func clientData(_ username: String) async throws -> Data {
    struct Said: Decodable { let challenge: String }
    let (status, data) = try await post("v1/signup/challenge", ["username": username])
    guard status == 200 else { throw AccountError.server(status) }
    let challenge = try JSONDecoder().decode(Said.self, from: data).challenge
    return try JSONEncoder().encode(["challenge": challenge])
  }

  private func post(_ path: String, _ body: some Encodable) async throws -> (Int, Data) {
    var request = URLRequest(url: places.server.appendingPathComponent(path))
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(body)
    return try await answer(to: request)
  }

  private func answer(to asked: URLRequest) async throws -> (Int, Data) {
    var request = asked
    request.httpMethod = "POST"
    request.timeoutInterval = 30
    let (data, response) = try await URLSession.shared.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
  }
}
