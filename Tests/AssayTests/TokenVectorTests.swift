import AssayAuthority
import Testing

@testable import Assay

/// Tests tokens and keys of Wycheproof, by the calls that a host makes.
@Suite("Token vectors", .enabled(if: Vectors.arePresent, Vectors.absent))
struct TokenVectorTests {
  private static let issuer = "https://issuer.example.com"

  private func verifier(_ algorithm: String) throws -> Verifier {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1]],
      "tokens": [
        [
          "profile": "jwt", "issuers": [.string(Self.issuer)], "audiences": ["x"],
          "algorithm": .string(algorithm),
        ]
      ],
    ]
    return try require(Verifier.alone(config.bytes).verifier)
  }

  /// Returns the refusal; `nil` if the signature and all checks before it pass. These texts contain
  /// no claims, so that later checks cannot pass.
  private func refusal(_ token: [UInt8], _ jwks: [UInt8], _ algorithm: String) throws -> String? {
    let (keyset, document) = Keyset.make(jwks)
    guard let keyset else { return document.name }
    let answer = try verifier(algorithm).verifyToken(
      token, keyset: keyset, nowMs: 1_795_219_200_000)
    check(answer.status != .ok)
    let isClaims = answer.text("error.check") == "token.claims"
    return isClaims ? nil : answer.name
  }

  @Test("TOK-12 TOK-13 TOK-20 TOK-21 compact JWS of the two algorithms, everything else refused")
  func compactJWS() throws {
    let file = "json_web_signature_test.json"
    guard let suite = Vectors.json("corpora/wycheproof/" + file, for: file) else { return }
    var (accepted, refused, empty, total, ours) = (0, 0, 0, Int64(0), 0)
    for group in try require(suite.member("testGroups")).children {
      let key = try require(group.member("public") ?? group.member("private"))
      let jwks = Array("{\"keys\":[".utf8) + key.source + Array("]}".utf8)
      let algorithm = key.string("alg") == "ES256" || key.string("kty") == "EC" ? "ES256" : "RS256"
      for test in try require(group.member("tests")).children {
        total += 1
        if key.string("alg") == algorithm { ours += 1 }
        let id = test.member("tcId")?.integer ?? 0
        guard let text = test.member("jws")?.text else {
          // A JWS in JSON serialization is an object, not a text that can be passed.
          refused += 1
          continue
        }
        let refusal = try refusal(text.utf8, jwks, algorithm)
        let says = key.string("alg")
        var isOurs = test.string("result") == "valid" && (says == "RS256" || says == "ES256")
        if isOurs, text.string.contains("..") {
          // A token without claims is refused (TOK-6).
          checkEqual(refusal, "malformed.token.form", "\(id)")
          empty += 1
          isOurs = false
        }
        checkEqual(
          (refusal == nil), isOurs, "\(id) \(test.string("comment")): \(refusal ?? "verified")")
        if refusal == nil { accepted += 1 } else { refused += 1 }
      }
    }
    checkEqual(suite.member("numberOfTests")?.integer, total)
    // The counts of tests for the two algorithms in docs/spec/access-tokens.md §6.
    checkEqual(ours, 272)
    checkEqual(accepted, 9)
    checkEqual(empty, 1)
    print("Wycheproof \(file): \(accepted) verified, \(refused) refused, \(empty) without payload")
  }

  @Test("JWK-2 JWK-3 JWK-4 JWK-5 JWK-6 key sets")
  func keysets() throws {
    let file = "json_web_key_test.json"
    guard let suite = Vectors.json("corpora/wycheproof/" + file, for: file) else { return }
    let expected: [String: String] = [
      "jws_rsa_roca_key": "rejected.jwks.roca", "keysize_too_small": "rejected.jwks.rsa",
      "exponentOne": "rejected.jwks.rsa", "wrong_algorithm": "rejected.jwks.empty",
      "invalid_algorithm": "rejected.jwks.empty", "invalid_use": "rejected.jwks.empty",
      "invalid_point": "rejected.jwks.ec", "wrong_curve": "rejected.jwks.empty",
      "wrong_kty": "rejected.jwks.rsa",
    ]
    var (verified, total) = (0, Int64(0))
    for group in try require(suite.member("testGroups")).children {
      let comment = group.string("comment")
      for test in try require(group.member("tests")).children {
        total += 1
        let isPublic = group.member("public") != nil
        let jwks = try require(group.member("public") ?? group.member("private"))
        let id = test.member("tcId")?.integer ?? 0
        let refusal = try refusal(
          Array(test.string("jws").utf8), Array(jwks.source),
          comment.hasPrefix("rs") || comment.contains("rsa") ? "RS256" : "ES256")
        // A set with secret keys is refused, even if it verifies.
        let isValid = test.string("result") == "valid" && isPublic
        checkEqual(refusal == nil, isValid, "\(id) \(comment): \(refusal ?? "verified")")
        let wanted = isPublic ? expected[comment] : "rejected.jwks.private-key"
        if let wanted { checkEqual(refusal, wanted, "\(id) \(comment)") }
        if refusal == nil { verified += 1 }
        let own = try require(group.member("private"))
        checkEqual(
          Keyset.make(Array(own.source)).document.name, "rejected.jwks.private-key",
          "\(id) \(comment): private")
      }
    }
    checkEqual(suite.member("numberOfTests")?.integer, total)
    checkEqual(verified, 1)
    print("Wycheproof \(file): \(verified) verified, \(total - 1) refused")
  }

  @Test("TOK-20 RSASSA-PKCS1-v1_5 with SHA-256")
  func rsaSignatures() throws {
    let file = "rsa_signature_2048_sha256_test.json"
    guard let suite = Vectors.json("corpora/wycheproof/" + file, for: file) else { return }
    var (accepted, refused) = (Int64(0), Int64(0))
    for group in try require(suite.member("testGroups")).children {
      let jwk = try require(group.member("keyJwk"))
      let jwks = Array("{\"keys\":[".utf8) + jwk.source + Array("]}".utf8)
      let key = try require(Keyset.make(jwks).keyset?.keys.first?.key)
      for test in try require(group.member("tests")).children {
        let signature = try require(Hex.decode(utf8(test.string("sig"))))
        let message = try require(Hex.decode(utf8(test.string("msg"))))
        let verifies = key.verifies(signature[...], .sha256, message[...])
        // The "acceptable" signature lacks the NULL in its DigestInfo and is refused.
        let id = test.member("tcId")?.integer ?? 0
        checkEqual(verifies, (test.string("result") == "valid"), "\(id)")
        if verifies { accepted += 1 } else { refused += 1 }
      }
    }
    checkEqual(suite.member("numberOfTests")?.integer, accepted + refused)
    print("Wycheproof \(file): \(accepted) verified, \(refused) refused")
  }
}
