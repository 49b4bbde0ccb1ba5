// A keychain in memory with Apple's names, whose errors a scenario sets.
@_exported import Foundation
#if canImport(FoundationNetworking)
  @_exported import FoundationNetworking
#endif

public typealias OSStatus = Int32
public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [String: Any]

public let errSecSuccess: OSStatus = 0
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308

public let kSecAttrAccessible = "accessible"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "after first unlock, this device"
public let kSecAttrAccount = "account"
public let kSecAttrService = "service"
public let kSecClass = "class"
public let kSecClassGenericPassword = "generic password"
public let kSecMatchLimit = "limit"
public let kSecMatchLimitOne = "one"
public let kSecReturnData = "return data"
public let kSecValueData = "data"

/// The state that a scenario sets and reads.
public enum MockKeychain {
  nonisolated(unsafe) public static var items: [String: Data] = [:]
  /// The status of every call, before it does anything; 0 for none.
  nonisolated(unsafe) public static var trouble: OSStatus = 0
  nonisolated(unsafe) public static var generatorTrouble: OSStatus = 0
}

private func place(_ query: CFDictionary) -> String {
  [kSecClass, kSecAttrService, kSecAttrAccount].map { "\(query[$0] ?? "")" }.joined(separator: "/")
}

public func SecItemAdd(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  guard MockKeychain.trouble == 0 else { return MockKeychain.trouble }
  guard MockKeychain.items[place(query)] == nil else { return errSecDuplicateItem }
  MockKeychain.items[place(query)] = query[kSecValueData] as? Data
  return errSecSuccess
}

public func SecItemUpdate(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
  guard MockKeychain.trouble == 0 else { return MockKeychain.trouble }
  guard MockKeychain.items[place(query)] != nil else { return errSecItemNotFound }
  MockKeychain.items[place(query)] = changes[kSecValueData] as? Data
  return errSecSuccess
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  guard MockKeychain.trouble == 0 else { return MockKeychain.trouble }
  let removed = MockKeychain.items.removeValue(forKey: place(query))
  return removed == nil ? errSecItemNotFound : errSecSuccess
}

public func SecItemCopyMatching(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  guard MockKeychain.trouble == 0 else { return MockKeychain.trouble }
  guard let found = MockKeychain.items[place(query)] else { return errSecItemNotFound }
  result?.pointee = NSData(data: found)
  return errSecSuccess
}

public typealias SecRandomRef = OpaquePointer
public let kSecRandomDefault: SecRandomRef? = nil

public func SecRandomCopyBytes(
  _ generator: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer
) -> OSStatus {
  guard MockKeychain.generatorTrouble == 0 else { return MockKeychain.generatorTrouble }
  var system = SystemRandomNumberGenerator()
  for place in 0..<count {
    bytes.storeBytes(of: system.next(), toByteOffset: place, as: UInt8.self)
  }
  return errSecSuccess
}
