import Testing

@testable import Assay

/// Tests JWS-31, JWS-100, JWS-101 and the form of a JWS with Wycheproof.
@Suite("Wycheproof", .enabled(if: Vectors.arePresent, Vectors.absent))
struct WycheproofTests {
  private struct Counts {
    var accepted = 0
    var refused = 0
    var deviating = 0
  }

  /// Runs the tests of an ECDSA file; the body verifies one signature.
  private func ecdsa(
    _ file: String, _ curve: Curve,
    _ verify: (_ key: PublicKey, _ signature: [UInt8], _ message: [UInt8]) -> Bool
  ) throws -> Counts? {
    guard let suite = Vectors.json("corpora/wycheproof/" + file, for: file) else { return nil }
    var counts = Counts()
    for group in try require(suite.member("testGroups")).children {
      let point = try require(
        Hex.decode(utf8(group.member("publicKey")?.string("uncompressed") ?? "")))
      let key = try require(PublicKey.make(curve, point: point[...]))
      for test in try require(group.member("tests")).children {
        let signature = try require(Hex.decode(utf8(test.string("sig"))))
        let message = try require(Hex.decode(utf8(test.string("msg"))))
        let verifies = verify(key, signature, message)
        let id = test.member("tcId")?.integer ?? 0
        checkEqual(verifies, (test.string("result") == "valid"), "\(file) \(id)")
        if verifies { counts.accepted += 1 } else { counts.refused += 1 }
      }
    }
    checkEqual(
      suite.member("numberOfTests")?.integer, Int64(counts.accepted + counts.refused))
    print("Wycheproof \(file): \(counts.accepted) verified, \(counts.refused) refused")
    return counts
  }

  @Test("JWS-100 JWS-101 P-256, r ‖ s")
  func concatenated() throws {
    _ = try ecdsa("ecdsa_secp256r1_sha256_p1363_test.json", .p256) { key, signature, message in
      Assay.ECDSASignature(concatenated: signature, .p256).map {
        key.verifies($0, .sha256, message[...])
      } ?? false
    }
  }

  @Test(
    "JWS-31 DER signatures, P-256 and P-384, SHA-256 and SHA-384",
    arguments: [
      ("ecdsa_secp256r1_sha256_test.json", Curve.p256, Digest.sha256),
      ("ecdsa_secp384r1_sha256_test.json", .p384, .sha256),
      ("ecdsa_secp384r1_sha384_test.json", .p384, .sha384),
    ])
  func der(file: String, curve: Curve, digest: Digest) throws {
    _ = try ecdsa(file, curve) { key, signature, message in
      Assay.ECDSASignature(der: signature[...], curve).map {
        key.verifies($0, digest, message[...])
      } ?? false
    }
  }

  // MARK: compact JWS

  /// Tests whose outcome here differs from the suite's, with the reason.
  private static let deviations: [(ids: ClosedRange<Int64>, reason: String)] = []

  /// Returns the public ES256 key of a group; `nil` if it has none for signatures.
  private func key(_ group: JSONValue) -> PublicKey? {
    guard let jwk = group.member("public"), jwk.string("kty") == "EC",
      jwk.string("crv") == "P-256", jwk.member("alg")?.text ?? "ES256" == "ES256",
      jwk.member("use")?.text ?? "sig" == "sig",
      jwk.member("key_ops") == nil || jwk.texts("key_ops").contains("verify"),
      let x = Base64.decodeURL(utf8(jwk.string("x"))[...]),
      let y = Base64.decodeURL(utf8(jwk.string("y"))[...])
    else { return nil }
    return PublicKey.make(.p256, point: ([0x04] + x + y)[...])
  }

  /// Verifies a JWS with a key in place of the chain: form, header up to `x5c`, signature. Returns
  /// the refusal; `nil` if it verifies.
  private func refusal(_ jws: [UInt8], _ key: PublicKey?) -> String? {
    do throws(Refusal) {
      let compact = try CompactJWS(jws)
      do throws(Refusal) {
        _ = try JWSHeader(compact)
        return "a header with x5c"
      } catch {
        // These headers contain no chain; every rule before that one passes.
        if error.status != .malformedJwsX5c { throw error }
      }
      guard
        let signature = Assay.ECDSASignature(concatenated: try compact.decodedSignature(), .p256)
      else { return "rejected.jws.signature" }
      guard let key else { return "no ES256 key" }
      return key.verifies(signature, .sha256, compact.signed) ? nil : "rejected.jws.signature"
    } catch {
      return "\(error.status.name)"
    }
  }

  @Test("JWS-2 JWS-5 JWS-10 JWS-11 JWS-101 compact JWS: ES256 verifies, everything else is refused")
  func compactJWS() throws {
    let file = "json_web_signature_test.json"
    guard let suite = Vectors.json("corpora/wycheproof/" + file, for: file) else { return }
    var counts = Counts()
    var total: Int64 = 0
    for group in try require(suite.member("testGroups")).children {
      let key = key(group)
      for test in try require(group.member("tests")).children {
        total += 1
        let id = test.member("tcId")?.integer ?? 0
        guard let text = test.member("jws")?.text else {
          // A JWS in JSON serialization is an object, not a text that can be passed.
          counts.refused += 1
          continue
        }
        let refusal = refusal(text.utf8, key)
        let isOurs = key != nil && test.string("result") == "valid"
        if let deviation = Self.deviations.first(where: { $0.ids.contains(id) }) {
          check((refusal == nil) != isOurs, "\(id): \(deviation.reason)")
          counts.deviating += 1
          continue
        }
        checkEqual(
          (refusal == nil), isOurs,
          "\(id) \(test.string("comment")): \(refusal ?? "verified")")
        if refusal == nil { counts.accepted += 1 } else { counts.refused += 1 }
      }
    }
    checkEqual(suite.member("numberOfTests")?.integer, total)
    check(counts.accepted > 0)
    print(
      "Wycheproof \(file): \(counts.accepted) ES256 verified, \(counts.refused) refused, "
        + "\(counts.deviating) deviating")
  }
}
