import AuthenticationServices
import Foundation

/// Merges this installation's account into that of Sign in with Apple.
@MainActor
public final class Upgrade: NSObject, ASAuthorizationControllerDelegate {
  private struct Proof: Sendable {
    let token: Data
    let code: Data
  }

  private let backEnd: BackEnd
  private var waiting: CheckedContinuation<Proof, Error>?

  public init(backEnd: BackEnd) { self.backEnd = backEnd }

  /// Runs the upgrade. After a lost response the same body is sent again, which gets the same
  /// response.
  public func run() async throws {
    struct Said: Decodable { let challenge: String }
    struct Linked: Decodable { let username: String; let password: String }
    let asked = try await backEnd.post(
      "v1/challenge", JSONEncoder().encode(["purpose": "apple-id"]))
    guard asked.status == 200 else { throw AccountError.server(asked.status) }
    let nonce = try JSONDecoder().decode(Said.self, from: asked.data).challenge
    let found = try await signIn(nonce)
    let body = try JSONEncoder().encode([
      "identityToken": String(decoding: found.token, as: UTF8.self),
      "authorizationCode": String(decoding: found.code, as: UTF8.self), "nonce": nonce,
    ])
    var answer = try? await backEnd.post("v1/account/link", body)
    for _ in 0..<2 where answer.map({ $0.status >= 500 }) ?? true {
      try await Task.sleep(nanoseconds: 2_000_000_000)
      answer = try? await backEnd.post("v1/account/link", body)
    }
    guard let answer, answer.status == 200 else {
      throw AccountError.server(answer?.status ?? 0)
    }
    let linked = try JSONDecoder().decode(Linked.self, from: answer.data)
    try await backEnd.account.become(
      Credentials(username: linked.username, password: linked.password))
  }

  /// Whether a deletion was begun without a response: repeat it at launch, before anything else.
  public var isDeleting: Bool { UserDefaults.standard.bool(forKey: "deleting") }

  /// Deletes the account in the app, as App Review demands. A half-deleted account gets 401 for
  /// every call except the repetition.
  public func deleteAccount() async throws {
    UserDefaults.standard.set(true, forKey: "deleting")
    let answer = try await backEnd.post("v1/account/delete", Data())
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    try await backEnd.account.forget()
    UserDefaults.standard.removeObject(forKey: "deleting")
  }

  private func signIn(_ nonce: String) async throws -> Proof {
    guard waiting == nil else { throw CancellationError() }
    let request = ASAuthorizationAppleIDProvider().createRequest()
    request.nonce = nonce
    return try await withCheckedThrowingContinuation { continuation in
      waiting = continuation
      let controller = ASAuthorizationController(authorizationRequests: [request])
      controller.delegate = self
      controller.performRequests()
    }
  }

  public func authorizationController(
    controller: ASAuthorizationController, didCompleteWithAuthorization found: ASAuthorization
  ) {
    if let credential = found.credential as? ASAuthorizationAppleIDCredential,
      let token = credential.identityToken, let code = credential.authorizationCode
    {
      waiting?.resume(returning: Proof(token: token, code: code))
    } else {
      waiting?.resume(throwing: ASAuthorizationError(.invalidResponse))
    }
    waiting = nil
  }

  public func authorizationController(
    controller: ASAuthorizationController, didCompleteWithError error: Error
  ) {
    waiting?.resume(throwing: error)
    waiting = nil
  }
}
