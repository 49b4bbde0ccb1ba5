import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// Targets for `assay_keyset_new` and `assay_verify_token`.
enum TokenTargets {
  private static let authority: TokenAuthority = FuzzFixture.shared.cases.tokens

  private static let verifier: OpaquePointer = {
    let config = FuzzFixture.shared.cases.standardConfig.setting(
      "tokens", TokenAuthority.configuration)
    return FuzzFixture.verifier(config.bytes)
  }()

  /// The issuers in the order in which the first byte of an input selects them.
  static let issuers = [
    TokenAuthority.pool, TokenAuthority.jwtIssuer, TokenAuthority.ellipticIssuer,
    TokenAuthority.apple,
  ]

  private static let keysets: [OpaquePointer] = issuers.map { issuer in
    guard let text = try? authority.keyset(issuer: issuer).bytes, let made = Calls.keyset(text).keys
    else { fatalError("no key set of \(issuer)") }
    return made
  }

  // MARK: key sets

  /// Reads any bytes as a key set. Two readings must agree; each key of an accepted set is used or
  /// skipped, and none is secret.
  static func keysetNew(_ input: [UInt8]) {
    let text = expand(input[...], keyStandIns)
    let (keys, answer) = Calls.keyset(text)
    let (others, again) = Calls.keyset(text)
    demand(answer.json == again.json, "two answers to one key set differ")
    if answer.isOK {
      demand(answer.text("keyset.keys.0.kid") != nil, "a key set without a key")
      let facts = answer.tree?.member("keyset")
      let told = (facts?.member("keys")?.count ?? 0) + (facts?.member("skipped")?.count ?? 0)
      let given = try? JSONReader.readObject(text).root.member("keys")
      demand(told == given?.count, "a key is neither used nor skipped")
      for key in given.map({ Array($0.children) }) ?? [] {
        demand(key.member("d") == nil && key.member("k") == nil, "a secret was taken")
      }
    }
    answer.free()
    again.free()
    assay_keyset_free(keys)
    assay_keyset_free(others)
  }

  /// The replacements of the control characters 1 and 2: whole keys.
  static let keyStandIns: [UInt8: [UInt8]] = {
    guard let rsa = try? TokenAuthority.jwk(rsa: authority.rsaKey, kid: "a").bytes,
      let elliptic = try? TokenAuthority.jwk(elliptic: authority.ellipticKey, kid: "b").bytes
    else { fatalError("no keys") }
    return [1: rsa, 2: elliptic]
  }()

  // MARK: tokens

  /// Verifies a token. The first byte selects the issuer, and whether the rest is the token itself,
  /// its claims, or its header and claims, which are then signed. An accepted token must name the
  /// configured issuer; a second call, which may use the cache, must return the same.
  static func verifyToken(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let place = Int(first & 3)
    let rest = Array(input.dropFirst())
    let token = first & 4 == 0 ? rest : signed(rest, issuers[place], hasHeader: first & 8 != 0)
    let answer = verify(token, keysets[place])
    let again = verify(token, keysets[place])
    demand(answer.json == again.json, "two answers to one token differ")
    if answer.isOK {
      demand(answer.text("token.issuer") == issuers[place], "another issuer")
      demand(answer.text("token.subject")?.isEmpty == false, "no subject")
      demand(token.filter { $0 == 0x2e }.count == 2, "not three segments")
      for other in keysets.indices where other != place {
        let elsewhere = verify(token, keysets[other])
        demand(!elsewhere.isOK, "accepted under the keys of two issuers")
        elsewhere.free()
      }
    }
    answer.free()
    again.free()
  }

  private static func signed(_ bytes: [UInt8], _ issuer: String, hasHeader: Bool) -> [UInt8] {
    var template =
      issuer == TokenAuthority.ellipticIssuer
      ? authority.es256(.null) : authority.rs256(.null)
    var claims = bytes[...]
    if hasHeader, let end = bytes.firstIndex(of: 0) {
      template.headerBytes = Array(bytes[..<end])
      claims = bytes[(end + 1)...]
    }
    template.payload = Array(claims)
    guard let text = try? template.signed() else { fatalError("signing failed") }
    return text
  }

  private static func verify(_ token: [UInt8], _ keys: OpaquePointer) -> Answer {
    Answer { document in
      token.asText {
        assay_verify_token(verifier, keys, $0, $1, FuzzFixture.instant, document)
      }
    }
  }
}
