/// The public keys of a token issuer, read once (docs/spec/access-tokens.md §5).
///
/// Immutable apart from what it remembers of verified texts; threads and verifiers may
/// share it. A refreshed set is a new one, so that withdrawn keys die with the old.
public final class Keyset: Sendable {
  /// Whose keys they are (JWK-9); nil: the text does not say.
  let issuer: Text?
  /// When the issuer was last asked, of a text that says so.
  let age: Age?
  let keys: [KeysetKey]
  let skipped: [Skipped]
  /// By SHA-256 of token texts, the key that verified their signature (KST-11).
  let verified = BytesCache<KeysetKey>(capacity: textCap)

  /// Texts that are remembered.
  static let textCap = 1024

  /// State that the exchange `jwks` leaves in the text.
  struct Age: Sendable {
    let fetchedMs: Int64
    let triedMs: Int64
    let failures: Int64

    var cooldownEndMs: Int64 { Keyset.cooldownEndMs(triedMs: triedMs, failures: failures) }
  }

  /// KST-2, KST-13: no attempt before this moment.
  static func cooldownEndMs(triedMs: Int64, failures: Int64) -> Int64 {
    triedMs &+ Swift.min(30_000 << Swift.min(failures, 5), 600_000)
  }

  /// A key that is not used, and why (JWK-2).
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

  /// TOK-13: byte for byte; no key stands in for another.
  func key(_ kid: Text) -> KeysetKey? { keys.first { $0.kid == kid } }

  /// What to do about a key id that is not in the set (KST-8).
  func advice(nowMs: Int64) -> KeysetAdvice {
    guard let age, nowMs < age.cooldownEndMs else { return .refresh }
    return .cooldown
  }

  // MARK: document

  /// The value of `keyset`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("issuer", issuer)
    writer.member("fetchedMs", integer: age?.fetchedMs)
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
