import AssayAuthority

/// The keys that an issuer signs with and publishes, one generation after the other.
struct KeyRing: Sendable {
  let isElliptic: Bool
  private let keys: [SigningKey]
  /// The generation that signs, counted from 1.
  private var current = 1
  /// The oldest one that is still published.
  private var oldest = 1

  init(_ keys: [SigningKey], isElliptic: Bool) {
    self.keys = keys
    self.isElliptic = isElliptic
  }

  /// What the answers' `ETag` has: another text for another key set.
  var tag: String { "\"play-\(oldest)-\(current)\"" }

  var keyId: String { name(current) }

  private func name(_ generation: Int) -> String {
    (isElliptic ? "play-p256-" : "play-rsa-") + String(generation)
  }

  /// After so many generations a key comes back under another name.
  private func key(_ generation: Int) -> SigningKey? {
    keys.isEmpty ? nil : keys[(generation - 1) % keys.count]
  }

  /// A new key signs; the old ones stay published.
  mutating func rotate() { current += 1 }

  /// Only the key that signs stays published.
  mutating func removeOld() { oldest = current }

  mutating func change(_ change: MockFault.KeyChange) {
    switch change {
    case .rotate: rotate()
    case .remove: removeOld()
    }
  }

  /// The set as the issuer publishes it: at most the eight newest.
  func published() throws -> JSONText {
    let all = try (max(oldest, current - 7)...current).compactMap { generation in
      try key(generation).map {
        try isElliptic
          ? TokenAuthority.jwk(elliptic: $0, kid: name(generation))
          : TokenAuthority.jwk(rsa: $0, kid: name(generation))
      }
    }
    return ["keys": .array(all)]
  }

  /// A token over the claims, by the newest key.
  ///
  /// - Parameter type: the header's `typ`.
  func signed(_ claims: JSONText, type: String? = nil, isBad: Bool = false) throws -> String {
    guard let key = key(current) else { throw Problem("there are no keys") }
    var header: JSONText = ["kid": .string(keyId), "alg": isElliptic ? "ES256" : "RS256"]
    if let type { header = header.appending("typ", .string(type)) }
    var token = TokenTemplate(header, claims, key, isElliptic: isElliptic)
    if isBad { token.signature = [UInt8](repeating: 1, count: isElliptic ? 64 : 256) }
    return String(decoding: try token.signed(), as: UTF8.self)
  }
}
