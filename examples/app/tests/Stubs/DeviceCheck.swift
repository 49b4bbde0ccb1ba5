// A stub of DeviceCheck, whose keys and errors a scenario sets.
import Foundation

public struct DCError: Error, Equatable {
  public enum Code: Int, Sendable {
    case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable
  }
  public let code: Code
  public init(_ code: Code) { self.code = code }
}

/// The state that a scenario sets and reads.
public enum MockDevice {
  nonisolated(unsafe) public static var isSupported = true
  nonisolated(unsafe) public static var made: [String] = []
  nonisolated(unsafe) public static var attested: Set<String> = []
  nonisolated(unsafe) public static var assertions = 0
  nonisolated(unsafe) public static var tokens = 0
  /// Key and hash of each call of attestKey.
  nonisolated(unsafe) public static var inputs: [String] = []
  /// Returns an attestation or an assertion of the device of a test authority, whose key is `key`.
  /// Without it they are texts.
  nonisolated(unsafe) public static var mint: ((_ kind: String, _ clientDataHash: Data) -> Data)?
  nonisolated(unsafe) public static var key: String?
  /// The errors of the next calls in order; later calls succeed.
  nonisolated(unsafe) public static var generating: [DCError.Code] = []
  nonisolated(unsafe) public static var attesting: [DCError.Code] = []
  nonisolated(unsafe) public static var asserting: [DCError.Code] = []

  static func next(_ troubles: inout [DCError.Code]) throws {
    if !troubles.isEmpty { throw DCError(troubles.removeFirst()) }
  }
}

/// Makes a new token at each call, as Apple's does.
public final class DCDevice {
  public class var current: DCDevice { DCDevice() }
  public var isSupported: Bool { MockDevice.isSupported }

  public func generateToken() async throws -> Data {
    MockDevice.tokens += 1
    return Data("token \(MockDevice.tokens)".utf8)
  }
}

/// Not Sendable, because Apple's class may not be.
public final class DCAppAttestService {
  public class var shared: DCAppAttestService { DCAppAttestService() }
  public var isSupported: Bool { MockDevice.isSupported }

  public func generateKey() async throws -> String {
    try MockDevice.next(&MockDevice.generating)
    MockDevice.made.append(MockDevice.key ?? "key \(MockDevice.made.count + 1)")
    return MockDevice.made[MockDevice.made.count - 1]
  }

  /// Attests each key once, as Apple does.
  public func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
    MockDevice.inputs.append("\(keyId) \(clientDataHash.base64EncodedString())")
    try MockDevice.next(&MockDevice.attesting)
    guard MockDevice.made.contains(keyId), MockDevice.attested.insert(keyId).inserted else {
      throw DCError(.invalidKey)
    }
    return MockDevice.mint?("attestation", clientDataHash) ?? Data("attestation of \(keyId)".utf8)
  }

  public func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
    try MockDevice.next(&MockDevice.asserting)
    guard MockDevice.attested.contains(keyId) else { throw DCError(.invalidKey) }
    MockDevice.assertions += 1
    return MockDevice.mint?("assertion", clientDataHash) ?? Data("assertion of \(keyId)".utf8)
  }
}
