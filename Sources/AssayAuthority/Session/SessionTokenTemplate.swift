import CLibCrypto

/// A session token before signing (docs/spec/session.md), valid unless it is changed.
public struct SessionTokenTemplate: Sendable {
  public var scheme = "as1"
  public var payload: JSONText
  public var secret: [UInt8]
  /// The bytes that precede the payload in the input of the MAC.
  public var purpose = Array("assay-session-v1".utf8) + [0]

  /// Creates a session token issued at `now` (ms since 1970) for 15 minutes.
  public init(secretId: String = "s1", secret: [UInt8], now: Int64) {
    self.secret = secret
    payload = [
      "kid": .string(secretId), "sub": "account-1",
      "key": .string(utf8: Base64Text.encode([UInt8](repeating: 7, count: 32))),
      "app": "ABCDE12345.com.example.app", "env": "production", "verdict": "allow",
      "risk": 3, "bind": .null, "iat": .integer(now), "exp": .integer(now + 900_000),
    ]
  }

  /// Returns a copy with other members of the payload.
  public func setting(_ changes: [(String, JSONText)]) -> SessionTokenTemplate {
    var changed = self
    changed.payload = payload.setting(changes)
    return changed
  }

  public func text() throws -> String {
    let body = Base64Text.encodeURL(payload.bytes)
    let code = Base64Text.encodeURL(try SessionTokenTemplate.code(secret, purpose + body))
    return scheme + "~" + String(decoding: body, as: UTF8.self) + "~"
      + String(decoding: code, as: UTF8.self)
  }

  /// Returns the HMAC with SHA-256, computed by libcrypto.
  public static func code(_ secret: [UInt8], _ message: [UInt8]) throws -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count = 0
    let made = unsafe code.withUnsafeMutableBufferPointer { out in
      unsafe EVP_Q_mac(
        nil, "HMAC", nil, "SHA256", nil, secret, secret.count, message, message.count,
        out.baseAddress, 32, &count)
    }
    guard unsafe made != nil, count == 32 else { throw AuthorityError("no message code") }
    return code
  }
}
