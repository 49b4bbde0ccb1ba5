import AssayAuthority
import CLibCrypto
import Testing

@testable import Assay

private typealias ECDSAPair = Assay.ECDSASignature

/// Compares the results for good and altered signatures with those of libcrypto's EVP (JWS-31,
/// PTH-5).
@Suite("Signatures against EVP")
struct SignaturesTests {
  static func evpVerifies(
    _ keyInfo: [UInt8], _ digest: Assay.Digest, _ message: [UInt8], _ signature: [UInt8]
  ) -> Bool {
    let key: OpaquePointer? = unsafe keyInfo.withUnsafeBufferPointer { info in
      var place = info.baseAddress
      return unsafe d2i_PUBKEY(nil, &place, info.count)
    }
    let context = unsafe EVP_MD_CTX_new()
    defer {
      unsafe EVP_MD_CTX_free(context)
      unsafe EVP_PKEY_free(key)
    }
    let method: OpaquePointer? =
      switch digest {
      case .sha1: unsafe EVP_sha1()
      case .sha256: unsafe EVP_sha256()
      case .sha384: unsafe EVP_sha384()
      case .sha512: unsafe EVP_sha512()
      }
    guard unsafe EVP_DigestVerifyInit(context, nil, method, nil, key) == 1 else { return false }
    return unsafe signature.withUnsafeBufferPointer { signature in
      unsafe message.withUnsafeBufferPointer { message in
        unsafe EVP_DigestVerify(
          context, signature.baseAddress, signature.count, message.baseAddress, message.count)
      }
    } == 1
  }

  /// Returns the bytes with one bit flipped.
  private static func turned(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
    var other = bytes
    other[place / 8 % bytes.count] ^= 1 << UInt8(place % 8)
    return other
  }

  @Test("JWS-31 ECDSA as EVP judges it", arguments: [Curve.p256, .p384])
  func ecdsa(curve: Curve) throws {
    var (good, bad) = (0, 0)
    for round in 0..<60 {
      let signer = try SigningKey.generate(curve == .p256 ? .p256 : .p384)
      let info = try signer.publicKeyInfo()
      let key = try require(PublicKey.make(curve, point: signer.publicKey()[...]))
      let message = Array("message \(round)".utf8)
      let pairs: [(SigningKey.Digest, Assay.Digest)] = [
        (.sha256, .sha256), (.sha384, .sha384), (.sha512, .sha512),
      ]
      for (chosen, digest) in pairs {
        let signature = try signer.sign(message, chosen)
        var tries = [(signature, message)]
        for place in stride(from: round, to: signature.count * 8, by: 61) {
          tries.append((Self.turned(signature, place), message))
        }
        tries.append((signature, Self.turned(message, round)))
        for (signature, message) in tries {
          let expected = Self.evpVerifies(info, digest, message, signature)
          let verdict =
            ECDSAPair(der: signature[...], curve).map {
              key.verifies($0, digest, message[...])
            } ?? false
          checkEqual(verdict, expected, "round \(round)")
          if expected { good += 1 } else { bad += 1 }
        }
      }
    }
    checkEqual(good, 180)
    check(bad > 1000)
  }

  @Test("JWS-31 ECDSA whose numbers are at the edges of the group", arguments: [Curve.p256, .p384])
  func edges(curve: Curve) throws {
    let signer = try SigningKey.generate(curve == .p256 ? .p256 : .p384)
    let info = try signer.publicKeyInfo()
    let key = try require(PublicKey.make(curve, point: signer.publicKey()[...]))
    let one = [UInt8](repeating: 0, count: curve.byteCount - 1) + [1]
    var last = curve.order
    last[last.count - 1] -= 1
    for r in [one, last] {
      for s in [one, last] {
        let made = ECDSAPair(concatenated: r + s, curve)
        let signature = try require(made)
        let message = Array("edge".utf8)
        check(!key.verifies(signature, .sha256, message[...]))
        check(!Self.evpVerifies(info, .sha256, message, signature.der))
      }
    }
    for (r, s) in [(curve.order, one), (one, curve.order)] {
      check(ECDSAPair(concatenated: r + s, curve) == nil)
    }
  }

  @Test("PTH-5 RSASSA-PKCS1-v1_5 as EVP judges it", arguments: [1024, 2048, 4096])
  func rsa(bits: Int) throws {
    let signer = try SigningKey.generate(.rsa(bits: bits))
    let info = try signer.publicKeyInfo()
    let der = try AppReceiptFixture.authority().chain(
      .current, intermediate: { $0.publicKeyInfo = info }
    ).intermediate
    let certificate = try require(Certificate(der))
    let key = try require(certificate.publicKey())
    var good = 0
    for (chosen, digest) in [(SigningKey.Digest.sha1, Assay.Digest.sha1), (.sha256, .sha256)] {
      let message = Array("message".utf8)
      let signature = try signer.sign(message, chosen)
      var tries = [(signature, message), (signature, Self.turned(message, 3))]
      for place in stride(from: 0, to: signature.count * 8, by: 37) {
        tries.append((Self.turned(signature, place), message))
      }
      tries += [(Array(signature.dropLast()), message), (signature + [0], message), ([], message)]
      for (signature, message) in tries {
        let expected = Self.evpVerifies(info, digest, message, signature)
        checkEqual(key.verifies(signature[...], digest, message[...]), expected)
        if expected { good += 1 }
      }
    }
    checkEqual(good, 2)
  }
  @Test("PTH-5 JWS-31 a key of one kind verifies nothing that one of the other kind signed")
  func kinds() throws {
    let message = Array("message".utf8)
    let elliptic = try SigningKey.generate(.p256)
    let ecdsa = try elliptic.sign(message, .sha256)
    let rsa = try AppReceiptFixture.authority().keys.root
    let octets = try rsa.sign(message, .sha256)
    let point = try require(PublicKey.make(.p256, point: try elliptic.publicKey()[...]))
    let root = try require(Certificate(try AppReceiptFixture.authority().root.signed(by: rsa)))
    let modulus = try require(root.publicKey())
    check(point.verifies(ecdsa[...], .sha256, message[...]))
    check(modulus.verifies(octets[...], .sha256, message[...]))
    check(!point.verifies(octets[...], .sha256, message[...]))
    check(!modulus.verifies(ecdsa[...], .sha256, message[...]))
    let made = ECDSAPair(der: ecdsa[...], .p256)
    let pair = try require(made)
    check(!modulus.verifies(pair, .sha256, message[...]))
  }
}
