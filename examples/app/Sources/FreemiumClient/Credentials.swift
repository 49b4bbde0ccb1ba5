import Foundation
import Security

nonisolated public enum AccountError: Error {
  case random(OSStatus), keychain(OSStatus), notKept
  case provider(String), server(Int)
}

/// User name and password of this installation, or of the merged account after the upgrade.
nonisolated struct Credentials: Codable, Equatable, Sendable {
  let username: String
  let password: String

  /// Creates credentials with 64 random bits in the name and 120 in the password.
  static func make() throws -> Credentials {
    let name = try random(8).map { String(format: "%02x", $0) }.joined()
    let secret = Data(try random(24)).base64EncodedString().prefix(20)
    return Credentials(username: "u_\(name)", password: "Rp\(secret)1!")
  }

  private static func random(_ count: Int) throws -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: count)
    let status = SecRandomCopyBytes(kSecRandomDefault, count, &octets)
    guard status == errSecSuccess else { throw AccountError.random(status) }
    return octets
  }
}

/// One item of the keychain, for this device only and readable after the first unlock.
nonisolated public struct CredentialStore: Sendable {
  let service: String

  public init(service: String) { self.service = service }

  private var query: [CFString: Any] {
    [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service,
      kSecAttrAccount: "credentials",
    ]
  }

  /// Returns the stored credentials; `nil` if there are none, or none that open an account. Throws
  /// for a fault that may be temporary.
  func read() throws -> Credentials? {
    var found: CFTypeRef?
    let wanted = query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
    let status = SecItemCopyMatching(wanted as CFDictionary, &found)
    if status == errSecItemNotFound { return nil }
    guard status == errSecSuccess, let data = found as? Data else {
      throw AccountError.keychain(status)
    }
    return try? JSONDecoder().decode(Credentials.self, from: data)
  }

  /// Stores the credentials in place of the old ones, and reads them back.
  func keep(_ credentials: Credentials) throws {
    let data = try JSONEncoder().encode(credentials)
    let value: [CFString: Any] = [
      kSecValueData: data,
      kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    var status = SecItemAdd(query.merging(value) { $1 } as CFDictionary, nil)
    if status == errSecDuplicateItem {
      status = SecItemUpdate(query as CFDictionary, value as CFDictionary)
    }
    guard status == errSecSuccess else { throw AccountError.keychain(status) }
    guard try read() == credentials else { throw AccountError.notKept }
  }

  /// Deletes the credentials, after the account was deleted.
  func forget() throws {
    let status = SecItemDelete(query as CFDictionary)
    guard status == errSecSuccess || status == errSecItemNotFound else {
      throw AccountError.keychain(status)
    }
  }
}
