import AssayAuthority
import Testing

@testable import Assay

/// The instant of all evidence in these tests: 2026-11-21 UTC.
private let instant: Int64 = 1_795_219_200_000

/// Tests tokens and key sets beyond the case table (docs/spec/access-tokens.md).
@Suite("Tokens")
struct TokenTests {
  private static let authority = Result { try TokenAuthority(now: instant) }

  private func verifier(_ tokens: JSONText = TokenAuthority.configuration) throws -> Verifier {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]], "tokens": tokens,
    ]
    return try require(Verifier.alone(config.bytes).verifier)
  }

  private func keyset(_ jwks: JSONText) throws -> Keyset {
    try require(Keyset.make(jwks.bytes).keyset)
  }

  @Test("TOK-9 TOK-20 no token with one byte changed passes")
  func flippedBytes() throws {
    let authority = try Self.authority.get()
    let verifier = try verifier()
    let keys = try keyset(try authority.keyset())
    let token = try authority.rs256(authority.cognitoClaims).signed()
    checkEqual(verifier.verifyToken(token, keyset: keys, nowMs: instant).status, .ok)
    for place in token.indices {
      for change in [1, 0x20, 0x80] as [UInt8] {
        var other = token
        other[place] ^= change
        let document = verifier.verifyToken(other, keyset: keys, nowMs: instant)
        check(document.status != .ok, "byte \(place)")
        checkEqual(document.tree?.member("token")?.isNull, true, "byte \(place)")
      }
    }
  }

  @Test("TOK-6 no token that is cut off passes")
  func cutOff() throws {
    let authority = try Self.authority.get()
    let verifier = try verifier()
    let keys = try keyset(try authority.keyset())
    let token = try authority.rs256(authority.cognitoClaims).signed()
    for count in 0..<token.count {
      let document = verifier.verifyToken(
        Array(token.prefix(count)), keyset: keys, nowMs: instant)
      check(document.status != .ok, "\(count) bytes")
    }
  }

  // MARK: memory (KST-11)

  @Test("KST-11 only texts whose signature verified are remembered, up to a bound")
  func memory() throws {
    let authority = try Self.authority.get()
    let verifier = try verifier()
    let keys = try keyset(try authority.keyset(issuer: TokenAuthority.ellipticIssuer))
    func known(_ token: [UInt8]) -> Bool {
      keys.verified.find(Digest.sha256.of(token)[...]) != nil
    }
    let claims = authority.jwtClaims(issuer: TokenAuthority.ellipticIssuer)
    func token(_ number: Int) throws -> [UInt8] {
      try authority.es256(claims.setting("jti", .integer(Int64(number)))).signed()
    }
    let forged = try authority.es256(claims).with {
      $0.signature = [UInt8](repeating: 1, count: 64)
    }
    .signed()
    check(verifier.verifyToken(forged, keyset: keys, nowMs: instant).status != .ok)
    check(!known(forged))
    let first = try authority.es256(claims).signed()
    checkEqual(verifier.verifyToken(first, keyset: keys, nowMs: instant).status, .ok)
    check(known(first))
    // The signature is remembered as valid; the claims are checked, and refused, at every call.
    let other = try token(0)
    checkEqual(
      verifier.verifyToken(other, keyset: keys, nowMs: instant).name, "malformed.token.claim")
    check(known(other))
    for number in 1...Keyset.textCap {
      _ = verifier.verifyToken(try token(number), keyset: keys, nowMs: instant)
    }
    check(!known(first), "the oldest goes out")
    let fresh = try keyset(try authority.keyset(issuer: TokenAuthority.ellipticIssuer))
    check(fresh.verified.find(Digest.sha256.of(other)[...]) == nil)
  }

  @Test("KST-11 TOK-23 a text seen before is judged anew by every verifier")
  func judgedAnew() throws {
    let authority = try Self.authority.get()
    let keys = try keyset(try authority.keyset())
    let token = try authority.rs256(authority.cognitoClaims).signed()
    let usual = try verifier()
    checkEqual(usual.verifyToken(token, keyset: keys, nowMs: instant).status, .ok)
    let otherClient: JSONText = [
      [
        "profile": "cognito-access", "issuers": [.string(TokenAuthority.pool)],
        "clients": ["somebody-else"],
      ]
    ]
    let strict = try verifier(otherClient)
    checkEqual(
      strict.verifyToken(token, keyset: keys, nowMs: instant).name, "rejected.token.client")
    checkEqual(
      usual.verifyToken(token, keyset: keys, nowMs: instant + 4_000_000).name,
      "rejected.token.expired")
    let again = usual.verifyToken(token, keyset: keys, nowMs: instant)
    let unseen = usual.verifyToken(
      token, keyset: try keyset(try authority.keyset()), nowMs: instant)
    checkEqual(again.json, unseen.json)
  }

  @Test("DOC-3 no refusal shows a claim, a token or a key")
  func nothingIsTold() throws {
    let authority = try Self.authority.get()
    let verifier = try verifier()
    let keys = try keyset(try authority.keyset())
    let claims = authority.cognitoClaims.setting("client_id", "secret-client-name")
    let document = verifier.verifyToken(
      try authority.rs256(claims).signed(), keyset: keys, nowMs: instant)
    let json = String(decoding: document.json, as: UTF8.self)
    checkEqual(document.name, "rejected.token.client")
    for word in ["secret-client-name", "player-one", "a1b2c3d4"] { check(!json.contains(word)) }
  }

  // MARK: keys

  @Test("JWK-5 moduli of fresh keys have no ROCA fingerprint")
  func innocentModuli() throws {
    for _ in 0..<8 {
      let (modulus, _) = try TokenAuthority.numbers(.generate(.rsa(bits: 2048)))
      check(!ROCAFingerprint.matches(modulus))
    }
    check(ROCAFingerprint.matches([1]))
    check(!ROCAFingerprint.matches([2]))
  }

  @Test("JWK-5 RSA keys of 3,072 and 4,096 bits verify")
  func longKeys() throws {
    let authority = try Self.authority.get()
    let verifier = try verifier()
    for bits in [3072, 4096] {
      let key = try SigningKey.generate(.rsa(bits: bits))
      let keys = try keyset([
        "issuer": .string(TokenAuthority.pool),
        "keys": [try TokenAuthority.jwk(rsa: key, kid: TokenAuthority.rsaKid)],
      ])
      let token = try authority.rs256(authority.cognitoClaims).with { $0.key = key }.signed()
      checkEqual(verifier.verifyToken(token, keyset: keys, nowMs: instant).status, .ok)
    }
  }
}
