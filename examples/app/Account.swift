import Foundation

/// Where the back end and the provider are.
nonisolated struct Places: Sendable {
  let server: URL
  let provider: URL  // https://cognito-idp.<region>.amazonaws.com/
  let clientId: String
}

/// What shows that a request comes from this app on a genuine device: members of a body.
nonisolated struct DeviceProof: Encodable, Sendable {
  var keyId: String?
  var attestation: String?
  var assertion: String?
  var clientData: String?
  /// The code of DCError, from a device that cannot attest.
  var unsupported: Int?
}

/// Access tokens of this installation; one sign-in at a time, whoever asks.
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

  /// `attest`: `DeviceKey.shared.attestation`, where the back end has `attestSignup`.
  init(
    places: Places, store: CredentialStore,
    attest: (@Sendable (Data) async throws -> DeviceProof)? = nil
  ) {
    self.places = places
    self.store = store
    self.attest = attest
  }

  /// A token that is good for a minute at least. It is never written to disk.
  func accessToken() async throws -> String {
    if let token, token.ends.timeIntervalSinceNow > 60 { return token.text }
    let task = signingIn ?? Task { try await signIn() }
    signingIn = task
    return try await task.value.text
  }

  /// The user name: another one is another account. nil: there is none yet.
  func username() throws -> String? { try store.read()?.username }

  /// The server refused this token: the next call signs in again.
  func dropToken(_ refused: String? = nil) {
    if refused == nil || refused == token?.text { token = nil }
  }

  /// The joined account of the upgrade takes the place of the anonymous one.
  func become(_ credentials: Credentials) throws {
    leave()
    try store.keep(credentials)
  }

  func forget() throws {
    leave()
    try store.forget()
  }

  /// A sign-in that runs is of the account that is left: it must not end as the new one's.
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

  /// With new credentials. Where they open nothing either, the fault is the provider's: the old
  /// ones are put back.
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

  /// nil: neither a sign-in nor a sign-up takes these credentials, now or later.
  private func open(_ credentials: Credentials) async throws -> Token? {
    if let found = try await initiateAuth(credentials) { return found }
    let isNew = try await signUp(credentials)
    if let found = try await initiateAuth(credentials) { return found }
    if isNew { throw AccountError.provider("NotAuthorizedException") }
    return nil
  }

  /// nil: there is no such user, or it is closed, or its sign-up stopped half-way.
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

  /// The type of a refusal, without the namespace that may stand before `#`. Too many attempts
  /// are a NotAuthorizedException too, and pass.
  private static func refusal(_ data: Data) throws -> String {
    struct Refused: Decodable { let __type: String; let message: String? }
    let refused = try JSONDecoder().decode(Refused.self, from: data)
    if refused.message?.contains("attempts exceeded") == true { return "attempts exceeded" }
    return refused.__type.split(separator: "#").last.map(String.init) ?? refused.__type
  }

  /// Whether an account was made. 409: there is one of this name. 400: a name of a joined
  /// account, which only Sign in with Apple makes.
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

  /// What the device signs before it has an account: these very bytes are sent, too.
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
