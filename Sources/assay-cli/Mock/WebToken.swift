import AssayAuthority
import CLibCrypto

/// A token that the host signed, decoded and checked with its test key.
struct WebToken {
  let header: JSONTree
  let claims: JSONTree
  private let input: [UInt8]
  private let signature: [UInt8]

  /// Decodes a token; `nil` unless it is three segments of base64url with JSON in the first two.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.count <= 8192,
      let header = Base64Text.decodeLeniently(Array(parts[0])).flatMap({ JSONTree($0) }),
      let claims = Base64Text.decodeLeniently(Array(parts[1])).flatMap({ JSONTree($0) }),
      let signature = Base64Text.decodeLeniently(Array(parts[2]))
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    input = Array(parts[0]) + [0x2e] + Array(parts[1])
  }

  /// Whether the token is signed with ES256 by this key, under this key id.
  func isSigned(by key: SigningKey, keyId: String) -> Bool {
    guard header["alg"]?.text == "ES256", header["kid"]?.text == keyId, signature.count == 64,
      let publicKey = try? key.publicKeyInfo()
    else { return false }
    let der = ECDSASignature(
      r: Array(signature[..<32].drop { $0 == 0 }), s: Array(signature[32...].drop { $0 == 0 })
    ).der
    return WebToken.verifies(input, der, publicKey)
  }

  /// Returns a claim in seconds since 1970 UTC.
  func second(_ name: String) -> Int64? { claims[name]?.integer }

  /// Whether the token was issued by now, has not expired, and is valid for at most `longest`
  /// seconds. An optional `iat` that is missing counts as now.
  func isCurrent(at now: Int64, longest: Int64, needsIssue: Bool = true) -> Bool {
    let current = now / 1000
    if claims["iat"] == nil, !needsIssue {
      guard let end = second("exp") else { return false }
      return end > current && end <= current + longest
    }
    guard let issued = second("iat"), (0...current + 60).contains(issued) else { return false }
    guard let end = second("exp") else { return issued >= current - longest }
    return end > current && end <= issued + longest
  }

  private static func verifies(
    _ message: [UInt8], _ signature: [UInt8], _ publicKey: [UInt8]
  ) -> Bool {
    unsafe publicKey.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      guard let key = unsafe d2i_PUBKEY(nil, &place, bytes.count) else { return false }
      defer { unsafe EVP_PKEY_free(key) }
      let context = unsafe EVP_MD_CTX_new()
      defer { unsafe EVP_MD_CTX_free(context) }
      guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
        return false
      }
      return unsafe signature.withUnsafeBufferPointer { octets in
        unsafe message.withUnsafeBufferPointer { text in
          unsafe EVP_DigestVerify(
            context, octets.baseAddress, octets.count, text.baseAddress, text.count) == 1
        }
      }
    }
  }
}
