/// One key of a key set that can verify tokens (JWK-2).
final class KeysetKey: Sendable {
  let kid: Text
  let key: PublicKey
  /// The key's own `alg`; `nil` if it has none.
  let algorithm: TokenAlgorithm?

  init(kid: Text, key: PublicKey, algorithm: TokenAlgorithm?) {
    self.kid = kid
    self.key = key
    self.algorithm = algorithm
  }

  /// Whether the key may verify this algorithm: the key, not the token, decides (JWK-7).
  func fits(_ wanted: TokenAlgorithm) -> Bool {
    guard algorithm == nil || algorithm == wanted else { return false }
    switch (key.type, wanted) {
    case (.rsa, .rs256), (.elliptic(.p256), .es256): return true
    default: return false
    }
  }
}
