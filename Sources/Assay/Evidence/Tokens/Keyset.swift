/// The public keys of a token issuer (docs/spec/access-tokens.md §5).
///
/// Immutable apart from its cache of verified tokens; threads and verifiers may share it. A
/// refreshed key set is a new object, so that withdrawn keys disappear with the old one.
public final class Keyset: Sendable {
  /// The issuer of the keys (JWK-9); `nil` if the text does not name one.
  let issuer: Text?
  /// When the key set was fetched; `nil` if the text does not contain that.
  let age: Age?
  let keys: [KeysetKey]
  let skipped: [Skipped]
  /// The key that verified the signature of each token text, by the SHA-256 of the text (KST-11).
  let verified = BytesCache<KeysetKey>(capacity: textCap)

  /// The number of token texts that are cached.
  static let textCap = 1024

  /// The state that the exchange `fetch-keyset` writes beside the keys. Times are milliseconds
  /// since 1970 UTC.
  struct Age: Sendable {
    let fetchedAtMs: Int64
    let triedAtMs: Int64
    let failures: Int64

    var cooldownEndMs: Int64 { Keyset.cooldownEndMs(triedAtMs: triedAtMs, failures: failures) }
  }

  /// Returns the moment before which no other fetch is attempted (KST-2, KST-13).
  static func cooldownEndMs(triedAtMs: Int64, failures: Int64) -> Int64 {
    triedAtMs &+ Swift.min(30_000 << Swift.min(failures, 5), 600_000)
  }

  /// A key that is not used, with the reason (JWK-2).
  final class Skipped: Sendable {
    let place: String
    let kid: Text?
    let reason: StaticString

    init(_ place: String, _ kid: Text?, _ reason: StaticString) {
      self.place = place
      self.kid = kid
      self.reason = reason
    }

    fileprivate func write(_ writer: inout JSONWriter) {
      writer.beginObject()
      writer.name("at")
      writer.string(place)
      writer.member("kid", kid)
      writer.member("reason", reason)
      writer.endObject()
    }
  }

  init(issuer: Text?, age: Age?, keys: [KeysetKey], skipped: [Skipped]) {
    self.issuer = issuer
    self.age = age
    self.keys = keys
    self.skipped = skipped
  }

  /// Returns the key with this id, compared byte for byte; no other key replaces it (TOK-13).
  func key(_ kid: Text) -> KeysetKey? { keys.first { $0.kid == kid } }

  /// Returns what the host should do about a key id that is not in the set (KST-8).
  func advice(nowMs: Int64) -> KeysetAdvice {
    guard let age, nowMs < age.cooldownEndMs else { return .refresh }
    return .cooldown
  }

  // MARK: document

  /// Writes the value of the member `keyset`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("issuer", issuer)
    writer.member("fetchedAtMs", integer: age?.fetchedAtMs)
    writer.name("keys")
    writer.beginArray()
    for key in keys { key.write(&writer) }
    writer.endArray()
    writer.name("skipped")
    writer.beginArray()
    for key in skipped { key.write(&writer) }
    writer.endArray()
    writer.endObject()
  }
}

extension KeysetKey {
  fileprivate func write(_ writer: inout JSONWriter) {
    var bits: Int64 = 256
    var algorithm = TokenAlgorithm.es256
    if case .rsa(let length) = key.type {
      bits = Int64(length)
      algorithm = .rs256
    }
    writer.beginObject()
    writer.member("kid", kid)
    writer.member("algorithm", algorithm.name)
    writer.member("bits", integer: bits)
    writer.endObject()
  }
}
