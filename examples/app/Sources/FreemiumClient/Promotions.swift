import DeviceCheck
import Foundation

/// What the back end grants once a device. It grants first and marks the device with Apple after
/// that, so a request is repeated until its response is final: at launch, for `unanswered`.
public actor Promotions {
  private struct Given: Encodable { let offer: String; let deviceToken: String }
  private struct Said<Grant: Decodable & Sendable>: Decodable, Sendable { let grant: Grant }
  private let backEnd: BackEnd
  private let session: DeviceSession?

  /// Creates the promotions. Pass a `session` if the back end has `attestCalls`.
  public init(backEnd: BackEnd, session: DeviceSession? = nil) {
    self.backEnd = backEnd
    self.session = session
  }

  /// The offers that were requested and have no final response.
  public var unanswered: [String] { UserDefaults.standard.stringArray(forKey: "promotions") ?? [] }

  /// Returns what was granted, the same at each repetition; `nil` if this device or this account
  /// has had it. Throws a DCError, for `DeviceTrouble`, if the device makes no token.
  public func request<Grant: Decodable & Sendable>(
    _ offer: String, as type: Grant.Type
  ) async throws -> Grant? {
    guard DCDevice.current.isSupported else { throw DCError(.featureUnsupported) }
    UserDefaults.standard.set(unanswered.filter { $0 != offer } + [offer], forKey: "promotions")
    // A token proves the device once: each request has its own.
    let token = try await DCDevice.current.generateToken().base64EncodedString()
    let body = try JSONEncoder().encode(Given(offer: offer, deviceToken: token))
    let answer = try await backEnd.post("v1/promotion", body, session: session)
    if answer.status == 200, let said = answer.read(Said<Grant>.self) {
      forget(offer)
      return said.grant
    }
    // 400 is not final: Apple may refuse this token after the grant, and take the next one.
    guard answer.error != nil, answer.status == 409 || answer.status == 404 else {
      throw AccountError.server(answer.status)
    }
    forget(offer)
    guard answer.status == 409 else { throw AccountError.server(answer.status) }
    return nil
  }

  private func forget(_ offer: String) {
    UserDefaults.standard.set(unanswered.filter { $0 != offer }, forKey: "promotions")
  }
}
