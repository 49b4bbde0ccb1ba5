// A stub of AuthenticationServices, whose sign-in succeeds at once.
import Foundation

public struct ASAuthorizationError: Error {
  public enum Code: Int, Sendable { case unknown = 1000, canceled, invalidResponse }
  public let code: Code
  public init(_ code: Code) { self.code = code }
}

@MainActor public protocol ASAuthorizationCredential: AnyObject {}

@MainActor public final class ASAuthorizationAppleIDCredential: ASAuthorizationCredential {
  public var identityToken: Data? { Data("identity token".utf8) }
  public var authorizationCode: Data? { Data("code".utf8) }
}

@MainActor public final class ASAuthorization {
  public let credential: any ASAuthorizationCredential = ASAuthorizationAppleIDCredential()
}

@MainActor public class ASAuthorizationRequest {
  public var nonce: String?
}

@MainActor public final class ASAuthorizationAppleIDProvider {
  public init() {}
  public func createRequest() -> ASAuthorizationRequest { ASAuthorizationRequest() }
}

@MainActor public protocol ASAuthorizationControllerDelegate: AnyObject {
  func authorizationController(
    controller: ASAuthorizationController, didCompleteWithAuthorization found: ASAuthorization)
  func authorizationController(
    controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

@MainActor public final class ASAuthorizationController {
  public weak var delegate: (any ASAuthorizationControllerDelegate)?
  public init(authorizationRequests: [ASAuthorizationRequest]) {}
  public func performRequests() {
    delegate?.authorizationController(
      controller: self, didCompleteWithAuthorization: ASAuthorization())
  }
}
