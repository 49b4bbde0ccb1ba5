import AssayAuthority
import CLibCrypto
import Testing

/// What the authority mints is what it says: libcrypto reads it, and each
/// signature holds.
@Suite("Test authority")
struct AuthorityTests {
  private static let now: Int64 = 1_795_219_200_000

  private func read(_ der: [UInt8]) -> (certificate: OpaquePointer?, rest: Int) {
    unsafe der.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      let certificate = unsafe d2i_X509(nil, &place, bytes.count)
      guard let start = bytes.baseAddress, let place = unsafe place else { return (nil, -1) }
      return unsafe (certificate, bytes.count - (place - start))
    }
  }

  private func isSigned(_ der: [UInt8], by issuer: [UInt8]) -> Bool {
    let child = unsafe read(der)
    let parent = unsafe read(issuer)
    defer {
      unsafe X509_free(child.certificate)
      unsafe X509_free(parent.certificate)
    }
    guard let certificate = unsafe child.certificate, let above = unsafe parent.certificate else {
      return false
    }
    return unsafe X509_verify(certificate, X509_get0_pubkey(above)) == 1
  }

  @Test("every certificate of the chain is read whole by libcrypto")
  func certificatesAreWhole() throws {
    let authority = try Authority(now: Self.now)
    for der in authority.chain.certificates + [authority.xcodeCertificate] {
      let (certificate, rest) = unsafe read(der)
      #expect(unsafe certificate != nil)
      #expect(rest == 0)
      unsafe X509_free(certificate)
    }
  }

  @Test("every certificate is signed by the one above it")
  func certificatesAreSigned() throws {
    let authority = try Authority(now: Self.now)
    let chain = authority.chain
    #expect(isSigned(chain.root, by: chain.root))
    #expect(isSigned(chain.intermediate, by: chain.root))
    #expect(isSigned(chain.leaf, by: chain.intermediate))
    #expect(isSigned(authority.xcodeCertificate, by: authority.xcodeCertificate))
    #expect(!isSigned(chain.leaf, by: chain.root))
    #expect(!isSigned(chain.intermediate, by: try Authority(now: Self.now).chain.root))
  }

  @Test("a certificate broken in one thing is still signed properly")
  func brokenCertificatesAreSigned() throws {
    let authority = try Authority(now: Self.now)
    let chain = try authority.chain(leaf: { $0 = $0.replacing(OID.leafMarker, with: nil) })
    #expect(isSigned(chain.leaf, by: chain.intermediate))
    let damaged = try authority.chain(leaf: { $0.signatureForm = .damaged })
    #expect(!isSigned(damaged.leaf, by: damaged.intermediate))
  }

  @Test("a certificate broken in one thing keeps its signatures, a forged one has none")
  func acceptedVariationsHold() throws {
    let authority = try Authority(now: Self.now)
    let base = Variation.Base(
      authority: authority, payload: Purchase(now: Self.now).transactionPayload, now: Self.now)
    var judged = 0
    for variation in Variation.all where ["JWS-27", "JWS-28", "JWS-29"].contains(variation.rule) {
      let chain = try #require(certificates(of: variation.mint(base)))
      #expect(isSigned(chain[0], by: chain[1]), "\(variation.name)")
      #expect(isSigned(chain[1], by: chain[2]), "\(variation.name)")
      judged += 1
    }
    #expect(judged > 15)
    for variation in Variation.all where variation.rule == "JWS-31" {
      let chain = try #require(certificates(of: variation.mint(base)))
      let holds = isSigned(chain[0], by: chain[1]) && isSigned(chain[1], by: chain[2])
      #expect(!holds, "\(variation.name)")
    }
  }

  /// `x5c` of a text that the authority minted.
  private func certificates(of jws: [UInt8]) -> [[UInt8]]? {
    guard let header = Base64Text.decodeLeniently(Array(jws.prefix { $0 != 0x2e })) else {
      return nil
    }
    let texts = header.split(separator: 0x22).filter { $0.count > 100 }
    return texts.compactMap { Base64Text.decodeLeniently(Array($0)) }
  }

  @Test("sizes are those of genuine evidence")
  func sizesAreGenuine() throws {
    let authority = try Authority(now: Self.now)
    let jws = try authority.mint(Purchase(now: Self.now).transactionPayload)
    #expect((4_900...5_500).contains(jws.count))
    let header = try #require(jws.firstIndex(of: 0x2e))
    #expect((4_200...4_500).contains(header))
    #expect(jws.count - (jws.lastIndex(of: 0x2e) ?? 0) - 1 == 86)
  }

  @Test("keys come back from their PEM text")
  func keysAreKept() throws {
    for kind in [SigningKey.Kind.p256, .p384, .rsa(bits: 2048)] {
      let key = try SigningKey.generate(kind)
      let again = try SigningKey.read(pem: key.pem())
      #expect(try key.publicKeyInfo() == again.publicKeyInfo())
    }
    #expect(throws: AuthorityError.self) { try SigningKey.read(pem: Array("no key".utf8)) }
  }

  @Test("a mirrored signature is another text over the same numbers")
  func mirroredSignatures() throws {
    let order = P256.order
    let signature = ECDSASignature(r: [1], s: [1])
    var expected = order
    expected[31] -= 1
    #expect(signature.mirroredP256().s == expected)
    #expect(signature.mirroredP256().mirroredP256().s == [1])
  }

  @Test("base64 and its loose twin")
  func base64Spellings() {
    #expect(Base64Text.encode(Array("Assay".utf8)) == Array("QXNzYXk=".utf8))
    #expect(Base64Text.encodeURL([0xfb, 0xff]) == Array("-_8".utf8))
    #expect(Base64Text.withLooseBits(Array("-_8".utf8)) == Array("-_9".utf8))
    #expect(Base64Text.withLooseBits(Array("QXNz".utf8)) == nil)
  }
}
