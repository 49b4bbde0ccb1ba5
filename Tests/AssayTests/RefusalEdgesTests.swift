import AssayAuthority
import Testing

@testable import Assay

/// Tests conditions that share a rule with others, each with an input that breaks only that one.
@Suite("Edges of refusals")
struct RefusalEdgesTests {
  private typealias DERText = AssayAuthority.DER

  // MARK: certificates

  private func isTaken(_ change: (inout CertificateTemplate) throws -> Void) throws -> Bool {
    let authority = try Minted.authority()
    var template = authority.leaf
    try change(&template)
    return Certificate(try template.signed(by: authority.intermediateKey)) != nil
  }

  @Test("JWS-21 nothing may follow the last field of any part of a certificate")
  func trailingFields() throws {
    let authority = try Minted.authority()
    let good = authority.leaf
    try check(isTaken { _ in })
    let two = DERText.unsigned([2])
    try check(!isTaken { $0.version = DERText.explicit(0, two + two) })
    let point = try authority.leafKey.publicKey()
    let algorithm = DERText.sequence(DERText.oid(OID.ecPublicKey), DERText.oid(OID.p256))
    let longAlgorithm = DERText.sequence(
      DERText.oid(OID.ecPublicKey), DERText.oid(OID.p256), DERText.null)
    try check(
      isTaken { $0.publicKeyInfo = DERText.sequence(algorithm, DERText.bitString(point)) })
    try check(
      !isTaken {
        $0.publicKeyInfo = DERText.sequence(algorithm, DERText.bitString(point), DERText.null)
      })
    try check(
      !isTaken {
        $0.publicKeyInfo = DERText.sequence(longAlgorithm, DERText.bitString(point))
      })
    let list = DERText.sequence(
      DERText.sequence(DERText.oid("1.2.3"), DERText.octetString(DERText.null)))
    try check(
      isTaken {
        $0.publicKeyInfo += DERText.explicit(3, list)
        $0.extensions = nil
      })
    try check(
      !isTaken {
        $0.publicKeyInfo += DERText.explicit(3, list + list)
        $0.extensions = nil
      })
    let frame = [good.toBeSigned, good.innerAlgorithm, DERText.bitString([1, 2, 3])]
    check(Certificate(DERText.value(0x30, frame.flatMap { $0 })) != nil)
    check(Certificate(DERText.value(0x30, frame.flatMap { $0 } + DERText.null)) == nil)
  }

  @Test("JWS-32 a validity has two dates and no more")
  func thirdDate() throws {
    let good = try Minted.authority().leaf
    let date = DERText.value(0x17, Array("261121000000Z".utf8))
    func certificate(_ dates: [UInt8]) -> Certificate? {
      let fields =
        good.version + DERText.integer(octets: good.serial) + good.innerAlgorithm + good.issuer
        + DERText.value(0x30, dates) + good.subject + good.publicKeyInfo
      return Certificate(
        DERText.sequence(
          DERText.value(0x30, fields), good.innerAlgorithm, DERText.bitString([1])))
    }
    check(certificate(date + date) != nil)
    check(certificate(date + date + date) == nil)
    check(certificate(date) == nil)
  }

  @Test("JWS-21 the parts of a name are not empty, and their values are texts")
  func names() throws {
    func name(_ value: [UInt8]) -> [UInt8] {
      DERText.sequence(DERText.set(DERText.sequence(DERText.oid("2.5.4.10"), value)))
    }
    for tag in [0x0c, 0x12, 0x13, 0x14, 0x16, 0x1e] as [UInt8] {
      try check(
        isTaken { $0.subject = name(DERText.value(tag, Array("12".utf8))) }, "tag \(tag)")
    }
    for tag in [0x01, 0x02, 0x04, 0x09, 0x17, 0x1b, 0x1c, 0x80] as [UInt8] {
      try check(
        !isTaken { $0.subject = name(DERText.value(tag, [0x32])) }, "tag \(tag)")
    }
    try check(!isTaken { $0.subject = name(DERText.value(0x1e, [0x31])) })
    try check(!isTaken { $0.subject = name(DERText.sequence(DERText.null)) })
    try check(!isTaken { $0.subject = name(DERText.utf8("a") + DERText.null) })
    try check(!isTaken { $0.subject = DERText.sequence(DERText.set()) })
    try check(isTaken { $0.subject = DERText.sequence() })
  }

  @Test("JWS-25 a curve's name under another algorithm is no key")
  func keyOfAnotherAlgorithm() throws {
    let authority = try Minted.authority()
    let point = try authority.leafKey.publicKey()
    func type(_ algorithm: String) throws -> KeyType? {
      var template = authority.leaf
      template.publicKeyInfo = DERText.sequence(
        DERText.sequence(DERText.oid(algorithm), DERText.oid(OID.p256)),
        DERText.bitString(point))
      let der = try template.signed(by: authority.intermediateKey)
      return try require(Certificate(der)).keyType
    }
    try checkEqual(type(OID.ecPublicKey), .elliptic(.p256))
    // id-ecDH only agrees on keys and signs nothing.
    try check(type("1.3.132.1.12") == nil)
  }

  @Test("JWS-27 the CA flag is one octet, a path length one minimal number")
  func basicConstraints() throws {
    let authority = try Minted.authority()
    func isTaken(_ length: [UInt8], flag: [UInt8] = DERText.boolean(0xff)) throws -> Bool {
      let value = DERText.sequence(flag, DERText.integer(octets: length))
      let template = authority.intermediate.replacing(
        OID.basicConstraints, with: CertificateExtension(OID.basicConstraints, value))
      return Certificate(try template.signed(by: authority.rootKey)) != nil
    }
    try check(isTaken([0]))
    try check(isTaken([0, 0x80]))
    try check(!isTaken([0], flag: DERText.value(0x01, [0xff, 0xff])))
    try check(!isTaken([0], flag: DERText.boolean(0x01)))
    try check(!isTaken([0, 0]))
    try check(!isTaken([0xff]))
    try check(!isTaken([]))
  }

  // MARK: the cache

  @Test("JWS-60 headers that share their index are told apart by their bytes")
  func collision() throws {
    let chain = try Minted.provenChain()
    let (first, second) = sameIndex()
    let cache = ChainCache(capacity: 4)
    cache.headers.remember(first[...], chain)
    check(cache.headers.find(first[...]) != nil)
    check(cache.headers.find(second[...]) == nil)
  }

  @Test("ATT-36 certificates and keys that share their index are told apart by their bytes")
  func bytesCollision() {
    let (first, second) = sameIndex()
    let cache = BytesCache<Int>(capacity: 4)
    cache.remember(first[...], 1)
    checkEqual(cache.find(first[...]), 1)
    check(cache.find(second[...]) == nil)
    let none = BytesCache<Int>(capacity: 0)
    none.remember(first[...], 1)
    check(none.find(first[...]) == nil)
  }

  /// Returns two texts of the same length and index.
  private func sameIndex() -> ([UInt8], [UInt8]) {
    let first = [UInt8](repeating: 0x61, count: 64)
    // The first word of lane 0 differs, and the second cancels the difference.
    var second = first
    second[0] = 0x62
    let start = UInt64(first.count)
    let difference =
      HeaderHash.mixed(start, word(first, 0)) ^ HeaderHash.mixed(start, word(second, 0))
    put(word(first, 32) ^ difference, &second, 32)
    check(first != second)
    checkEqual(HeaderHash.of(first[...]), HeaderHash.of(second[...]))
    return (first, second)
  }

  @Test("JWS-60 a header that begins another one with the same index is not that one")
  func prefixCollision() throws {
    let chain = try Minted.provenChain()
    let short = [UInt8](repeating: 0x61, count: 64)
    var long = short + [UInt8](repeating: 0, count: 32)
    for lane in 0..<4 {
      let place = lane * 8
      func state(_ start: Int) -> UInt64 {
        let first = HeaderHash.mixed(UInt64(start), word(short, place))
        return HeaderHash.mixed(first, word(short, place + 32))
      }
      // After this word the longer text has the state of the shorter one.
      put(inverse(state(short.count)) ^ state(long.count), &long, place + 64)
    }
    checkEqual(HeaderHash.of(short[...]), HeaderHash.of(long[...]))
    let cache = ChainCache(capacity: 4)
    cache.headers.remember(long[...], chain)
    check(cache.headers.find(long[...]) != nil)
    check(cache.headers.find(short[...]) == nil)
  }

  private func word(_ bytes: [UInt8], _ place: Int) -> UInt64 {
    bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func put(_ word: UInt64, _ bytes: inout [UInt8], _ place: Int) {
    for index in 0..<8 {
      bytes[place + index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index))
    }
  }

  /// Returns the x with `mixed(0, x) == value`.
  private func inverse(_ value: UInt64) -> UInt64 {
    let factor = HeaderHash.mixed(0, 1) ^ HeaderHash.mixed(0, 1) >> 32
    // Newton's iteration doubles the good bits of the inverse of an odd number.
    var inverse = factor
    for _ in 0..<6 { inverse = inverse &* (2 &- factor &* inverse) }
    return (value ^ value >> 32) &* inverse
  }

  // MARK: JSON

  private func fault(_ text: String) -> JSONFault.Reason? {
    do {
      _ = try JSONReader.readValue(Array(text.utf8))
      return nil
    } catch {
      return error.reason
    }
  }

  @Test(
    "JWS-6 one byte of a token replaced by another",
    arguments: [
      #"{"a";1}"#, #"{"a"x1}"#, "[trux]", "[tr]", "[falsx]", "[nulx]", "[-x]", "[-.5]", "[-]",
      "[- 1]", "[1.x]", "[1ex]", "[1e+x]",
    ])
  func tokens(_ text: String) {
    checkEqual(fault(text), .syntax)
  }

  @Test(
    "JWS-6 half a surrogate pair before anything but its other half",
    arguments: [
      #"["\udc00\udc00"]"#, #"["\ud83dxude00"]"#, #"["\ud83d\xde00"]"#, #"["\ud83d\nde00"]"#,
      #"["\ud83d\u0041"]"#, #"["\ud83d\ud83d"]"#,
    ])
  func surrogates(_ text: String) {
    checkEqual(fault(text), .utf8)
  }

  @Test("JWS-103 no digits are no integer")
  func noDigits() {
    check(JSONValue.integer([]) == nil)
    check(JSONValue.integer([0x2d]) == nil)
    checkEqual(JSONValue.integer([0x2d, 0x31]), -1)
  }

  @Test("DOC-2 an empty step is no index")
  func emptyIndex() throws {
    let payload = Minted.purchase.transactionPayload.setting("list", ["first", "second"])
    let document = try Minted.verify(payload, .transaction)
    checkEqual(document.status, .ok)
    checkEqual(document.text("transaction.payload.list.0"), "first")
    check(document.text("transaction.payload.list.") == nil)
    check(document.text("transaction.payload.list.-") == nil)
  }

  // MARK: configuration and identity

  @Test("CNF-1 meters and groups have names")
  func configuration() throws {
    func status(_ changes: [(String, JSONText)]) throws -> String {
      "\(Verifier.alone(try Minted.config(changes).bytes).document.status.name)"
    }
    func limits(_ meter: String) -> [(String, JSONText)] {
      let meters: JSONText = .object([.init(meter, 3)])
      return [("plans", ["free"]), ("quotas", .object([.init("free", meters)]))]
    }
    try checkEqual(status(limits("image")), "ok")
    try checkEqual(status(limits(String(repeating: "a", count: 64))), "ok")
    let longest = String(repeating: "a", count: 65)
    for name in ["", "a b", "a\"", "a\\", "a{", "a}", "\u{e9}", "a\n", longest] {
      try checkEqual(status(limits(name)), "config.quotas.form", "\(name)")
    }
    func group(_ name: String) -> [(String, JSONText)] {
      let product: JSONText = [
        "plan": "paid", "type": "auto-renewable", "group": .string(name),
      ]
      return [("plans", ["free", "paid"]), ("products", .object([.init("a.b", product)]))]
    }
    try checkEqual(status(group("main")), "ok")
    try checkEqual(status(group("")), "config.products.form")
  }

  @Test("JWS-71 an environment comes only from ids of 14 to 16 digits")
  func environmentOfId() throws {
    let changes: [(String, JSONText)] = [("storekit.missingEnvironment", "from-transaction-id")]
    for (id, status) in [
      ("2000000900000001", "ok"), ("180000900000001", "ok"), ("10000900000001", "ok"),
      ("01000000900000001", "rejected.environment.missing"),
      ("00180000900000001", "rejected.environment.missing"),
      ("1000090000001", "rejected.environment.missing"),
    ] {
      let payload = Minted.purchase.transactionPayload.removing("environment")
        .setting("transactionId", .string(id))
      let document = try Minted.verify(payload, .transaction, changes)
      checkEqual("\(document.status.name)", status, "\(id)")
    }
  }

  @Test("JWS-74 a realtime request of Xcode compares no app id")
  func realtimeRequestOfXcode() throws {
    let purchase = Minted.purchase.with {
      $0.environment = "Xcode"
      $0.appAppleId = 1
    }
    let jws = try Minted.authority().mintXcode(purchase.realtimeRequestPayload)
    let document = try Minted.verifier(Minted.xcodeChanges())
      .verifyJWS(jws, kind: .realtimeRequest, nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
  }
}
