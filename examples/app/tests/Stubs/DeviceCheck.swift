// A device whose keys and troubles a scene chooses.
import Foundation

public struct DCError: Error, Equatable {
  public enum Code: Int, Sendable {
    case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable
  }
  public let code: Code
  public init(_ code: Code) { self.code = code }
}

/// What a scene sets and looks at.
public enum MockDevice {
  nonisolated(unsafe) public static var isSupported = true
  nonisolated(unsafe) public static var made: [String] = []
  nonisolated(unsafe) public static var attested: Set<String> = []
  nonisolated(unsafe) public static var assertions = 0
  /// What the next calls throw, first to last; then they succeed.
  nonisolated(unsafe) public static var generating: [DCError.Code] = []
  nonisolated(unsafe) public static var attesting: [DCError.Code] = []
  nonisolated(unsafe) public static var asserting: [DCError.Code] = []

  static func next(_ troubles: inout [DCError.Code]) throws {
    if !troubles.isEmpty { throw DCError(troubles.removeFirst()) }
  }
}

/// Not Sendable, as Apple's may be.
public final class DCAppAttestService {
  public class var shared: DCAppAttestService { DCAppAttestService() }
  public var isSupported: Bool { MockDevice.isSupported }

  public func generateKey() async throws -> String {
    try MockDevice.next(&MockDevice.generating)
    MockDevice.made.append("key \(MockDevice.made.count + 1)")
    return MockDevice.made[MockDevice.made.count - 1]
  }

  /// Once for each key, as Apple's.
  public func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
    try MockDevice.next(&MockDevice.attesting)
    guard MockDevice.made.contains(keyId), MockDevice.attested.insert(keyId).inserted else {
      throw DCError(.invalidKey)
    }
    return Data("attestation of \(keyId)".utf8)
  }

  public func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
    try MockDevice.next(&MockDevice.asserting)
    guard MockDevice.attested.contains(keyId) else { throw DCError(.invalidKey) }
    MockDevice.assertions += 1
    return Data("assertion of \(keyId)".utf8)
  }
}
