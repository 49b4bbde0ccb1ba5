/// One key of a keyset that can verify tokens (JWK-2).
final class KeysetKey: Sendable {
  let kid: Text
  let key: PublicKey
  /// What the key says it is for; nil: it does not.
  let algorithm: TokenAlgorithm?

  init(kid: Text, key: PublicKey, algorithm: TokenAlgorithm?) {
    self.kid = kid
    self.key = key
    self.algorithm = algorithm
  }

  /// JWK-7: the key, not the token, decides the algorithm.
  func fits(_ wanted: TokenAlgorithm) -> Bool {
    guard algorithm == nil || algorithm == wanted else { return false }
    switch (key.type, wanted) {
    case (.rsa, .rs256), (.elliptic(.p256), .es256): return true
    default: return false
    }
  }
}
