import AssayAuthority
import CLibCrypto
import Testing

@testable import Assay

/// Tests that libcrypto reads the minted evidence and verifies each signature.
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
      check(unsafe certificate != nil)
      checkEqual(rest, 0)
      unsafe X509_free(certificate)
    }
  }

  @Test("every certificate is signed by the one above it")
  func certificatesAreSigned() throws {
    let authority = try Authority(now: Self.now)
    let chain = authority.chain
    check(isSigned(chain.root, by: chain.root))
    check(isSigned(chain.intermediate, by: chain.root))
    check(isSigned(chain.leaf, by: chain.intermediate))
    check(isSigned(authority.xcodeCertificate, by: authority.xcodeCertificate))
    check(!isSigned(chain.leaf, by: chain.root))
    check(!isSigned(chain.intermediate, by: try Authority(now: Self.now).chain.root))
  }

  @Test("a certificate broken in one thing is still signed properly")
  func brokenCertificatesAreSigned() throws {
    let authority = try Authority(now: Self.now)
    let chain = try authority.chain(leaf: { $0 = $0.replacing(OID.leafMarker, with: nil) })
    check(isSigned(chain.leaf, by: chain.intermediate))
    let damaged = try authority.chain(leaf: { $0.signatureForm = .damaged })
    check(!isSigned(damaged.leaf, by: damaged.intermediate))
  }

  @Test("a certificate broken in one thing keeps its signatures, a forged one has none")
  func acceptedVariationsHold() throws {
    let authority = try Authority(now: Self.now)
    let base = Variation.Base(
      authority: authority, payload: Purchase(now: Self.now).transactionPayload, now: Self.now)
    var judged = 0
    for variation in Variation.all where ["JWS-27", "JWS-28", "JWS-29"].contains(variation.rule) {
      let chain = try require(certificates(of: variation.mint(base)))
      check(isSigned(chain[0], by: chain[1]), "\(variation.name)")
      check(isSigned(chain[1], by: chain[2]), "\(variation.name)")
      judged += 1
    }
    check(judged > 15)
    for variation in Variation.all where variation.rule == "JWS-31" {
      let chain = try require(certificates(of: variation.mint(base)))
      let holds = isSigned(chain[0], by: chain[1]) && isSigned(chain[1], by: chain[2])
      check(!holds, "\(variation.name)")
    }
  }

  /// Returns the `x5c` of a text that the authority minted.
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
    check((4_900...5_500).contains(jws.count))
    let header = try require(jws.firstIndex(of: 0x2e))
    check((4_200...4_500).contains(header))
    checkEqual(jws.count - (jws.lastIndex(of: 0x2e) ?? 0) - 1, 86)
  }

  @Test("keys come back from their PEM text")
  func keysAreKept() throws {
    for kind in [SigningKey.Kind.p256, .p384, .rsa(bits: 2048)] {
      let key = try SigningKey.generate(kind)
      let again = try SigningKey.read(pem: key.pem())
      try checkEqual(key.publicKeyInfo(), again.publicKeyInfo())
    }
    #expect(throws: AuthorityError.self) { try SigningKey.read(pem: Array("no key".utf8)) }
  }

  @Test("a mirrored signature is another text over the same numbers")
  func mirroredSignatures() throws {
    let order = P256.order
    let signature = ECDSASignature(r: [1], s: [1])
    var expected = order
    expected[31] -= 1
    checkEqual(signature.mirroredP256().s, expected)
    checkEqual(signature.mirroredP256().mirroredP256().s, [1])
  }

  @Test("base64 and its loose twin")
  func base64Spellings() {
    checkEqual(Base64Text.encode(Array("Assay".utf8)), Array("QXNzYXk=".utf8))
    checkEqual(Base64Text.encodeURL([0xfb, 0xff]), Array("-_8".utf8))
    checkEqual(Base64Text.withLooseBits(Array("-_8".utf8)), Array("-_9".utf8))
    check(Base64Text.withLooseBits(Array("QXNz".utf8)) == nil)
  }
}

/// Tests that the receipt authority mints the requested content, equal each time.
@Suite("Test authority for receipts")
struct ReceiptAuthorityTests {
  private static let now: Int64 = 1_795_219_200_000
  private static let made = Result { try ReceiptAuthority() }

  private var purchase: Purchase { Purchase(now: Self.now) }

  private func certificate(_ der: [UInt8]) -> OpaquePointer? {
    unsafe der.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      return unsafe d2i_X509(nil, &place, bytes.count)
    }
  }

  private func isSigned(_ der: [UInt8], by issuer: [UInt8]) -> Bool {
    let child = unsafe certificate(der)
    let parent = unsafe certificate(issuer)
    defer {
      unsafe X509_free(child)
      unsafe X509_free(parent)
    }
    guard let child = unsafe child, let parent = unsafe parent else { return false }
    return unsafe X509_verify(child, X509_get0_pubkey(parent)) == 1
  }

  @Test("every chain is signed from the root down")
  func chainsAreSigned() throws {
    let authority = try Self.made.get()
    for generation in ReceiptAuthority.Generation.allCases {
      let chain = try authority.chain(generation)
      check(isSigned(chain.root, by: chain.root))
      check(isSigned(chain.intermediate, by: chain.root))
      check(isSigned(chain.leaf, by: chain.intermediate))
      check(!isSigned(chain.leaf, by: chain.root))
    }
    check(isSigned(authority.xcodeCertificate, by: authority.xcodeCertificate))
  }

  @Test("two intermediates have one name and one key, and other years")
  func pairOfIntermediates() throws {
    let authority = try Self.made.get()
    let first = try authority.chain(.first)
    let second = try authority.chain(.second)
    check(first.intermediate != second.intermediate)
    check(isSigned(first.leaf, by: second.intermediate))
    check(isSigned(second.leaf, by: first.intermediate))
  }

  @Test("the same keys give the same certificates and receipts")
  func mintingIsRepeatable() throws {
    let authority = try Self.made.get()
    let again = try ReceiptAuthority(keys: authority.keys)
    for generation in ReceiptAuthority.Generation.allCases {
      try checkEqual(
        authority.chain(generation).certificates, again.chain(generation).certificates)
    }
    try checkEqual(authority.transactionReceipt(purchase), again.transactionReceipt(purchase))
    let facts = AppReceiptFacts([purchase], like: purchase)
    try checkEqual(authority.appReceipt(facts), again.appReceipt(facts))
  }

  @Test("keys are asked for by the names under which a folder keeps them")
  func namesOfKeys() throws {
    let authority = try Self.made.get()
    var asked: [String] = []
    _ = ReceiptAuthority.Keys { name in
      asked.append(name)
      return authority.keys.root
    }
    checkEqual(asked, ReceiptAuthority.Keys.names)
  }

  @Test("sizes are those of genuine receipts")
  func sizesAreGenuine() throws {
    let authority = try Self.made.get()
    let third = try authority.transactionTemplate(purchase)
    check((2_500...3_800).contains(try third.signed().count))
    try checkEqual(third.signatureBlob().first, 3)
    let early = purchase.moved(by: 1_395_000_000_000 - Self.now)
    let second = try authority.transactionTemplate(early, version: 2)
    check((1_900...3_000).contains(try second.signed().count))
    try checkEqual(second.signatureBlob().first, 2)
    let facts = AppReceiptFacts([purchase], like: purchase)
    check((4_000...6_000).contains(try authority.appTemplate(facts).signed().count))
  }

  @Test("dates of Los Angeles change with the season")
  func pacificDates() {
    let dates: [(Int64, String)] = [
      (1_741_514_399_000, "2025-03-09 01:59:59"), (1_741_514_400_000, "2025-03-09 03:00:00"),
      (1_762_073_999_000, "2025-11-02 01:59:59"), (1_762_074_000_000, "2025-11-02 01:00:00"),
      (1_735_689_600_000, "2024-12-31 16:00:00"), (1_751_328_000_000, "2025-06-30 17:00:00"),
    ]
    for (ms, text) in dates {
      checkEqual(WrittenDate.pacific(ms), text + " America/Los_Angeles")
    }
  }

  @Test("a day of requests has its shares, its order, and is the same every time")
  func dayOfRequests() throws {
    let authority = try Self.made.get()
    let configuration = try Authority(now: Self.now).sampleConfiguration(
      for: purchase, receipts: authority)
    let verifier = try require(Verifier.alone(configuration.bytes).verifier)
    var day = try DayOfRequests(
      authority, purchase: purchase, start: Self.now, count: 1000, seed: 7)
    var tally: [DayOfRequests.Class: Int] = [:]
    var last = Self.now
    while let request = try day.next() {
      tally[request.kind, default: 0] += 1
      check(request.timeMs >= last && request.timeMs < Self.now + Purchase.day)
      last = request.timeMs
      let document = verifier.triage(request.blob, nowMs: Self.now)
      let status = "\(document.status.name)"
      switch request.kind {
      case .foreign: checkEqual(status, "rejected.triage.foreign-bundle")
      case .cracker: checkEqual(status, "rejected.triage.cracking-tool")
      case .confirmed, .repeated:
        checkEqual(document.text("triage.category"), "candidate")
        let kind: ReceiptKind =
          document.text("triage.format") == "app-receipt" ? .app : .transaction
        let verified = verifier.verifyReceipt(
          request.blob, kind: kind, subject: nil, nowMs: Self.now)
        checkEqual("\(verified.status.name)", "ok")
      case .unconfirmed:
        checkEqual(status, "pending.triage.verify-next")
        let verified = verifier.verifyReceipt(
          request.blob, kind: .transaction, subject: nil, nowMs: Self.now)
        check("\(verified.status.name)" != "ok")
      }
    }
    for kind in DayOfRequests.Class.allCases {
      let expected = kind.share
      check(abs((tally[kind] ?? 0) - expected) < expected / 5 + 25, "\(kind)")
    }
    let lines = try authority.dayOfRequests(
      count: 200, seed: 9, purchase: purchase, start: Self.now)
    let again = try authority.dayOfRequests(
      count: 200, seed: 9, purchase: purchase, start: Self.now)
    checkEqual(lines, again)
    let other = try authority.dayOfRequests(
      count: 200, seed: 10, purchase: purchase, start: Self.now)
    check(lines != other)
    for line in lines {
      let object = try JSONReader.readObject(Array(line.dropLast()), caps: JSONCaps())
      check(object.root.member("blob")?.text != nil)
      check(object.root.member("timeMs") != nil)
    }
  }
}
