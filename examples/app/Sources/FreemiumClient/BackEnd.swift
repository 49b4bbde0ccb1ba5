import Foundation

/// The response of the server.
nonisolated public struct Answer: Sendable {
  public let status: Int
  public let data: Data
  /// The time to wait in seconds, at most a day; `nil` if the response names none.
  public let retryAfter: TimeInterval?

  init(_ data: Data, _ response: URLResponse) {
    let http = response as? HTTPURLResponse
    status = http?.statusCode ?? 0
    self.data = data
    retryAfter = http?.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init)
      .map { TimeInterval(min(max($0, 0), 86_400)) }
  }

  /// The text of a refusal; `nil` if the response is not the back end's, but a proxy's for example.
  var error: String? {
    struct Refused: Decodable { let error: String }
    return read(Refused.self)?.error
  }

  var wantsAttestation: Bool { status == 401 && error == "Attestation required" }

  func read<Body: Decodable>(_ type: Body.Type) -> Body? {
    try? JSONDecoder().decode(type, from: data)
  }
}

/// The calls of the back end.
nonisolated public struct BackEnd: Sendable {
  let places: Places
  public let account: Account

  public init(places: Places, account: Account) {
    (self.places, self.account) = (places, account)
  }

  public func post(
    _ path: String, _ body: Data, headers: [String: String] = [:]
  ) async throws -> Answer {
    let token = try await account.accessToken()
    let first = try await send(path, body, headers, token)
    guard first.status == 401, !first.wantsAttestation else { return first }
    await account.dropToken(token)
    return try await send(path, body, headers, try await account.accessToken())
  }

  private func send(
    _ path: String, _ body: Data, _ headers: [String: String], _ token: String
  ) async throws -> Answer {
    var request = URLRequest(url: places.server.appendingPathComponent(path))
    request.httpMethod = "POST"
    request.httpBody = body
    request.timeoutInterval = 30
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    let (data, response) = try await URLSession.shared.data(for: request)
    return Answer(data, response)
  }

  /// Makes a metered call. The tier is a wish, and the result names the tier that was used. Pass a
  /// `session` if the back end has `attestCalls`.
  public func analyze(
    _ text: String, tier: String, session: DeviceSession? = nil
  ) async throws -> Data {
    struct Refused: Decodable { let fallback: String? }
    var answer = try await metered(text, tier, session)
    if answer.status == 403 || answer.status == 429,
      let fallback = answer.read(Refused.self)?.fallback
    {
      answer = try await metered(text, fallback, session)
    }
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    return answer.data
  }

  private func metered(
    _ text: String, _ tier: String, _ session: DeviceSession?
  ) async throws -> Answer {
    struct Given: Encodable { let tier: String; let input: String }
    let body = try JSONEncoder().encode(Given(tier: tier, input: text))
    return try await post("v1/analyze", body, session: session)
  }

  /// Calls with the current session token, and with a new one after `Attestation required`. A
  /// device without a token calls all the same: the server decides.
  func post(_ path: String, _ body: Data, session: DeviceSession?) async throws -> Answer {
    let known = try? await session?.text()
    let answer = try await post(path, body, headers: Self.header(known))
    guard answer.wantsAttestation, let session else { return answer }
    await session.drop(known)
    guard let renewed = try await session.text() else { return answer }
    return try await post(path, body, headers: Self.header(renewed))
  }

  private static func header(_ session: String?) -> [String: String] {
    session.map { ["X-Session": $0] } ?? [:]
  }
}
