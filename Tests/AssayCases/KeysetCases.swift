import AssayAuthority

extension CaseFixture {
  /// Adds key sets with allowed and refused content (docs/spec/access-tokens.md §5).
  func addKeysetCases() throws {
    let rsa = try TokenAuthority.jwk(rsa: tokens.rsaKey, kid: "a")
    let elliptic = try TokenAuthority.jwk(elliptic: tokens.ellipticKey, kid: "b")
    keyset(
      "JWK-1", "two keys", ["keys": [rsa, elliptic]],
      facts: [
        ("/kind", "keyset"), ("/ok", true), ("issuer", .null), ("fetchedAtMs", .null),
        ("keys.0.kid", "a"), ("keys.0.algorithm", "RS256"), ("keys.0.bits", 2048),
        ("keys.1.algorithm", "ES256"), ("keys.1.bits", 256), ("skipped.0.at", .null),
      ])
    keyset(
      "JWK-9", "with its issuer and its state",
      [
        "issuer": .string(TokenAuthority.pool), "fetchedAtMs": .integer(now), "keys": [rsa],
        "etag": "\"x\"",
      ], facts: [("issuer", .text(TokenAuthority.pool)), ("fetchedAtMs", .integer(now))])
    addKeysetForms(rsa)
    addSkippedKeys(rsa, elliptic)
    try addBadKeys(rsa, elliptic)
  }

  private func keyset(
    _ rule: String, _ name: String, text: EvidenceText, _ expect: EvidenceCase.Expectation
  ) { add(rule, "keyset: \(name)", .keysetNew(jwks: text), expect) }

  private func keyset(
    _ rule: String, _ name: String, _ jwks: JSONText, _ status: String = "ok", check: String? = nil,
    at: String? = nil, facts: Facts = []
  ) {
    keyset(rule, name, text: .bytes(jwks.bytes), .init(status, check: check, at: at, facts: facts))
  }

  /// Adds forms of the JSON text (JWK-1, JWK-9).
  private func addKeysetForms(_ rsa: JSONText) {
    let good: JSONText = ["keys": [rsa]]
    let text = good.bytes
    func form(_ name: String, _ text: [UInt8], _ status: String) {
      keyset("JWK-1", name, text: .bytes(text), .init(status, check: "keyset.form"))
    }
    form("nothing", [], "malformed.json.syntax")
    form("a web page", Array("<html>".utf8), "malformed.json.syntax")
    form("an array", Array("[]".utf8), "malformed.json.not-object")
    form("text after it", text + [0x78], "malformed.json.trailing")
    form("a byte order mark", [0xef, 0xbb, 0xbf] + text, "malformed.json.bom")
    form(
      "keys twice", Array("{\"keys\":[],".utf8) + text.dropFirst(), "malformed.json.duplicate-name")
    form("nested 40 deep", Array(String(repeating: "[", count: 40).utf8), "too-large.json.depth")
    keyset(
      "JWK-1", "a quarter of a megabyte and a byte",
      text: .repeated(prefix: text, unit: [0x20], count: 262_145 - text.count, suffix: []),
      .init("too-large.jwks.size", check: "keyset.size"))
    keyset(
      "JWK-1", "a quarter of a megabyte",
      text: .repeated(prefix: text, unit: [0x20], count: 262_144 - text.count, suffix: []),
      .init("ok"))
    let form = "malformed.jwks.form"
    keyset("JWK-1", "no keys", [:], form, at: "keys")
    keyset("JWK-1", "no key", ["keys": []], form, at: "keys")
    keyset("JWK-1", "keys is an object", ["keys": rsa], form, at: "keys")
    keyset("JWK-1", "a key is a text", ["keys": [rsa, "x"]], form, at: "keys[1]")
    let stranger: JSONText = ["kty": "OKP"]
    keyset("JWK-1", "64 keys", ["keys": .array([rsa] + Array(repeating: stranger, count: 63))])
    keyset(
      "JWK-1", "65 keys", ["keys": .array([rsa] + Array(repeating: stranger, count: 64))],
      "too-large.jwks.size", at: "keys")
    for (name, value) in [("a number", 7), ("null", .null), ("empty", "")]
      as [(String, JSONText)]
    {
      keyset("JWK-9", "issuer \(name)", good.setting("issuer", value), form, at: "issuer")
    }
    for member in ["fetchedAtMs", "triedAtMs", "failures"] {
      let aged = good.setting("fetchedAtMs", .integer(now))
      for (name, value) in [("a text", "1"), ("negative", -1)] as [(String, JSONText)] {
        keyset("JWK-1", "\(member) \(name)", aged.setting(member, value), form, at: member)
      }
    }
  }

  /// Adds keys that are skipped (JWK-2).
  private func addSkippedKeys(_ rsa: JSONText, _ elliptic: JSONText) {
    func skipped(_ name: String, _ key: JSONText, _ reason: String) {
      keyset(
        "JWK-2", "beside a good key, \(name)", ["keys": [rsa, key]],
        facts: [
          ("keys.0.kid", "a"), ("keys.1.kid", .null), ("skipped.0.at", "keys[1]"),
          ("skipped.0.reason", .text(reason)),
        ])
      keyset("JWK-2", "alone, \(name)", ["keys": [key]], "rejected.jwks.empty", at: "keys")
    }
    skipped("no kty", elliptic.removing("kty"), "kty")
    skipped("another kty", ["kty": "OKP", "crv": "Ed25519", "kid": "b", "x": "YQ"], "kty")
    skipped("kty in lower case", elliptic.setting("kty", "ec"), "kty")
    skipped("P-384", elliptic.setting("crv", "P-384"), "crv")
    skipped("no crv", elliptic.removing("crv"), "crv")
    skipped("for encryption", elliptic.setting("use", "enc"), "use")
    skipped("a use that is null", elliptic.setting("use", .null), "use")
    skipped("of another algorithm", elliptic.setting("alg", "ES384"), "alg")
    skipped("an algorithm that is a number", elliptic.setting("alg", 7), "alg")
    skipped("to sign alone", elliptic.setting("key_ops", ["sign"]), "key_ops")
    skipped("key_ops as text", elliptic.setting("key_ops", "verify"), "key_ops")
    keyset(
      "JWK-2", "to verify and to wrap",
      ["keys": [elliptic.setting("key_ops", ["wrapKey", "verify"])]])
  }

  /// Adds keys that are refused (JWK-3 … JWK-6).
  private func addBadKeys(_ rsa: JSONText, _ elliptic: JSONText) throws {
    func bad(_ rule: String, _ name: String, _ key: JSONText, _ status: String, at: String? = nil) {
      keyset(
        rule, name, ["keys": [elliptic.setting("kid", "good"), key]], status,
        check: "keyset.keys", at: at ?? "keys[1]")
    }
    for (name, value) in [
      ("missing", nil), ("a number", 7), ("empty", ""),
      ("of 257 bytes", .string(String(repeating: "k", count: 257))),
    ] as [(String, JSONText?)] {
      bad(
        "JWK-3", "kid \(name)", value.map { rsa.setting("kid", $0) } ?? rsa.removing("kid"),
        "malformed.jwks.form", at: "keys[1].kid")
    }
    bad(
      "JWK-3", "a kid twice", rsa.setting("kid", "good"), "rejected.jwks.duplicate-kid",
      at: "keys[1].kid")
    keyset(
      "JWK-3", "a kid twice, once of a key that is skipped",
      ["keys": [rsa, elliptic.setting([("kid", "a"), ("use", "enc")])]])
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
      bad("JWK-4", "with \(name)", rsa.setting(name, "YQ"), "rejected.jwks.private-key")
    }
    bad("JWK-4", "a symmetric key", ["kty": "oct", "kid": "s"], "rejected.jwks.private-key")
    bad(
      "JWK-4", "private, of a key that would be skipped",
      elliptic.setting([("use", "enc"), ("d", "YQ")]), "rejected.jwks.private-key")
    try addBadNumbers(rsa, bad)
    let point = try tokens.ellipticKey.publicKey()
    bad(
      "JWK-6", "x a byte short, which y has",
      elliptic.setting([("x", url(Array(point[1..<32]))), ("y", url(Array(point[32...])))]),
      "rejected.jwks.ec")
    for name in ["x", "y"] {
      for (what, value) in [
        ("31 bytes", url([UInt8](repeating: 1, count: 31))),
        ("33 bytes", url([0] + [UInt8](repeating: 1, count: 32))),
        ("of another point", url([UInt8](repeating: 1, count: 32))), ("a number", 7),
        (
          "padded",
          .string(
            (elliptic[name].map { String(decoding: $0.bytes.dropFirst().dropLast(), as: UTF8.self) }
              ?? "") + "=")
        ),
      ] as [(String, JSONText)] {
        bad("JWK-6", "\(name) \(what)", elliptic.setting(name, value), "rejected.jwks.ec")
      }
      bad("JWK-6", "no \(name)", elliptic.removing(name), "rejected.jwks.ec")
    }
  }

  private func addBadNumbers(
    _ rsa: JSONText, _ bad: (String, String, JSONText, String, String?) -> Void
  ) throws {
    func rejected(_ name: String, _ changes: [(String, JSONText)]) {
      bad("JWK-5", name, rsa.setting(changes), "rejected.jwks.rsa", nil)
    }
    let (modulus, exponent) = try TokenAuthority.numbers(tokens.rsaKey)
    rejected("n with a zero before it", [("n", url([0] + modulus))])
    rejected("n even", [("n", url(modulus.dropLast() + [modulus[255] & 0xfe]))])
    rejected("n of 2,047 bits", [("n", url([0x7f] + modulus.dropFirst()))])
    rejected("n of 1,024 bits", [("n", url(Array(modulus.suffix(128))))])
    rejected("n of 8,193 bits", [("n", url([1] + [UInt8](repeating: 0xff, count: 1024)))])
    rejected("n a number", [("n", 7)])
    rejected("n empty", [("n", "")])
    rejected("n in the standard alphabet", [("n", .string(utf8: Base64Text.encode(modulus)))])
    rejected("e with a zero before it", [("e", url([0] + exponent))])
    rejected("e = 1", [("e", url([1]))])
    rejected("e = 2", [("e", url([2]))])
    rejected("e even", [("e", url([1, 0, 0]))])
    rejected("e of 33 bits", [("e", url([1, 0, 0, 0, 1]))])
    rejected("e = 2^32 + 65,537", [("e", url([1, 0, 1, 0, 1]))])
    bad("JWK-5", "no e", rsa.removing("e"), "rejected.jwks.rsa", nil)
    // The modulus is 1 modulo each prime of the test: 13 times their product, shifted, plus 1.
    let product = P256.bytes("823B626E67C286C7676A2D64D9")
    let weak = product + [UInt8](repeating: 0, count: 256 - product.count - 1) + [1]
    bad("JWK-5", "a ROCA modulus", rsa.setting("n", url(weak)), "rejected.jwks.roca", nil)
    keyset("JWK-5", "e = 3", ["keys": [rsa.setting("e", url([3]))]])
    keyset("JWK-5", "e = 2^32 − 1", ["keys": [rsa.setting("e", url([255, 255, 255, 255]))]])
    let long = [0xff] + [UInt8](repeating: 0x5a, count: 1022) + [1]
    keyset(
      "JWK-5", "n of 8,192 bits", ["keys": [rsa.setting("n", url(long))]],
      facts: [("keys.0.bits", 8192)])
  }

  private func url(_ bytes: [UInt8]) -> JSONText { .string(utf8: Base64Text.encodeURL(bytes)) }
}
