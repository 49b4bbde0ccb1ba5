import AssayAuthority
import Testing

@testable import Assay

/// A verifier with every signing key, and checks of its signatures.
enum Signing {
  static let now = Exchanges.now
  static let keyId = "2X9R4HXF34"
  static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
  static let nonce = "9f2d4d1c-5a55-4b2e-8c3b-0d4f1a2b3c4d"
  private static let made = Result { try SigningKey.generate(.p256) }

  static func key() throws -> SigningKey { try made.get() }
  static func pem() throws -> JSONText { .string(utf8: try key().pem()) }

  static func blocks() throws -> [(String, JSONText)] {
    [
      (
        "appStoreServerApi",
        ["issuerId": .string(issuer), "keyId": .string(keyId), "privateKey": try pem()]
      ),
      (
        "appleId",
        ["teamId": "ABCDE12345", "keyId": "KEYID67890", "privateKey": try pem()]
      ),
      ("deviceCheck", ["teamId": "ABCDE12345", "keyId": "KEYID12345", "privateKey": try pem()]),
    ]
  }

  static func verifier() throws -> Verifier { try Minted.verifier(try blocks()) }

  static func run(_ request: JSONText, _ verifier: Verifier? = nil) throws -> Document {
    let (exchange, document) = try (verifier ?? self.verifier()).startExchange(
      request.bytes, nowMs: now)
    check(exchange == nil)
    return document
  }

  /// Returns header and payload of a JWS whose signature libcrypto's EVP verifies.
  static func opened(_ jws: String) throws -> (header: String, payload: String) {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
    try require(parts.count == 3)
    let signature = try require(Base64.decodeURL(parts[2][...]))
    try require(signature.count == 64)
    let der = AssayAuthority.ECDSASignature(
      r: Array(signature[..<32].drop { $0 == 0 }), s: Array(signature[32...].drop { $0 == 0 })
    ).der
    check(
      SignaturesTests.evpVerifies(
        try key().publicKeyInfo(), .sha256, parts[0] + [0x2e] + parts[1], der))
    func text(_ part: [UInt8]) throws -> String {
      String(decoding: try require(Base64.decodeURL(part[...])), as: UTF8.self)
    }
    return (try text(parts[0]), try text(parts[1]))
  }
}
