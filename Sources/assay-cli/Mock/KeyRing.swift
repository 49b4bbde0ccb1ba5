import AssayAuthority

/// The keys that an issuer signs with and publishes, one generation after another.
struct KeyRing: Sendable {
  let isElliptic: Bool
  private let keys: [SigningKey]
  /// The number of the signing generation, from 1.
  private var current = 1
  /// The oldest published generation.
  private var oldest = 1

  init(_ keys: [SigningKey], isElliptic: Bool) {
    self.keys = keys
    self.isElliptic = isElliptic
  }

  /// The `ETag` of responses, which is different for each key set.
  var tag: String { "\"play-\(oldest)-\(current)\"" }

  var keyId: String { name(current) }

  private func name(_ generation: Int) -> String {
    (isElliptic ? "play-p256-" : "play-rsa-") + String(generation)
  }

  /// Returns the key of a generation. After a fixed number of generations a key returns under
  /// another name.
  private func key(_ generation: Int) -> SigningKey? {
    keys.isEmpty ? nil : keys[(generation - 1) % keys.count]
  }

  /// Makes a new key the signing one; the old keys stay published.
  mutating func rotate() { current += 1 }

  /// Withdraws all keys except the signing one.
  mutating func removeOld() { oldest = current }

  mutating func change(_ change: MockFault.KeyChange) {
    switch change {
    case .rotate: rotate()
    case .remove: removeOld()
    }
  }

  /// Returns the set as the issuer publishes it: at most the eight newest keys.
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

  /// Returns a token over the claims, signed by the newest key.
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
