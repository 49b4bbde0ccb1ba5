import AssayAuthority
import Testing

@testable import Assay

/// Tests containers that differ from a good one in one thing (APR-1 … APR-4).
@Suite("PKCS#7 container")
struct SignedMessageTests {
  private typealias Write = AssayAuthority.DER

  private static let digest = CertificateTemplate.algorithm(OID.sha256, parameters: Write.null)
  private static let payload: [UInt8] = Write.set(Write.octetString([1, 2, 3]))

  private func template() throws -> AppReceiptTemplate {
    let chain = try AppReceiptFixture.authority().chain(.current)
    var template = AppReceiptTemplate(attributes: [], chain: chain, digest: .sha256)
    template.payload = Self.payload
    return template
  }

  private func read(
    _ bytes: [UInt8], _ limits: SignedMessage.Limits = AppReceiptFixture.limits
  ) throws(Refusal) -> SignedMessage {
    try SignedMessage(bytes, limits, AppReceiptFixture.refusals)
  }

  private func refusal(
    _ bytes: [UInt8], _ limits: SignedMessage.Limits = AppReceiptFixture.limits
  ) -> Refusal? {
    do throws(Refusal) {
      _ = try read(bytes, limits)
      return nil
    } catch {
      return error
    }
  }

  private func refusal(_ change: (inout AppReceiptTemplate) throws -> Void) throws -> Refusal? {
    var template = try template()
    try change(&template)
    return refusal(try template.signed())
  }

  // MARK: good ones

  @Test("APR-1 APR-5 definite and indefinite containers give the same parts")
  func forms() throws {
    for form in [
      ASN1Tree.Form.definite, .indefinite(chunk: 1000), .indefinite(chunk: 3),
      .indefinite(chunk: 1),
    ] {
      var template = try template()
      template.form = form
      let message = try read(template.signed())
      checkEqual(Array(message.payload.slice), Self.payload)
      checkEqual(message.certificates.map { Array(message.slice($0)) }, template.certificates)
      check(message.names(message.digest, ObjectIdentifier.sha256))
      check(message.digest.parametersAreEmpty)
      check(message.names(message.signer.signatureAlgorithm, ObjectIdentifier.rsaEncryption))
      checkEqual(message.signer.signature.slice.count, 256)
      let leaf = try require(Certificate(template.chain.leaf))
      checkEqual(message.slice(message.signer.issuer), leaf.bytes(leaf.issuer))
      checkEqual(message.slice(message.signer.serial), leaf.bytes(leaf.serial))
      check(message.elements > 200)
    }
  }

  @Test("APR-5 parameters of an algorithm are NULL, absent, or noticed")
  func parameters() throws {
    let sha256 = Write.oid("2.16.840.1.101.3.4.2.1")
    for (parameters, isEmpty) in [
      ([], true), (Write.null, true), ([0x30, 0x00], false), ([0x05, 0x01, 0x00], false),
    ] as [([UInt8], Bool)] {
      var template = try template()
      template.signerDigest = Write.sequence(sha256, parameters)
      let message = try read(template.signed())
      checkEqual(message.signer.digest.parametersAreEmpty, isEmpty)
    }
  }

  // MARK: refused ones

  @Test("APR-1 APR-2 bytes after the container, and broken ones")
  func bytes() throws {
    let good = try template().signed()
    check(refusal(good) == nil)
    checkEqual(refusal(good + [0])?.status, .malformedAppReceiptTrailing)
    checkEqual(refusal(good + [0])?.place, "byte \(good.count)")
    checkEqual(refusal(Array(good.dropLast()))?.status, .malformedAppReceiptBer)
    checkEqual(refusal([])?.status, .malformedAppReceiptBer)
    checkEqual(refusal([])?.place, "byte 0")
    for end in stride(from: 0, to: good.count, by: 7) {
      checkEqual(refusal(Array(good[..<end]))?.status, .malformedAppReceiptBer)
    }
  }

  @Test("APR-2 members that are missing or stand elsewhere")
  func structure() throws {
    let certificate = try AppReceiptFixture.authority().chain(.current).leaf
    let bag = Write.value(0xa0, certificate)
    for (name, wrong) in [
      ("no digests", try refusal { $0.digestAlgorithms = [] }),
      ("two digests", try refusal { $0.digestAlgorithms = [Self.digest, Self.digest] }),
      ("a digest that is a number", try refusal { $0.digestAlgorithms = [Write.unsigned([1])] }),
      ("a digest without name", try refusal { $0.digestAlgorithms = [Write.sequence()] }),
      (
        "a digest of three parts",
        try refusal {
          $0.digestAlgorithms = [
            Write.sequence(Write.oid("1.2.3"), Write.null, Write.null)
          ]
        }
      ),
      ("no content", try refusal { $0.content = .raw([]) }),
      ("content that is a text", try refusal { $0.content = .raw(Write.utf8("x")) }),
      (
        "content twice",
        try refusal { $0.content = .raw(Write.octetString([1]) + Write.octetString([1])) }
      ),
      ("no certificates", try refusal { $0.bag = .raw([]) }),
      ("certificates in a set", try refusal { $0.bag = .raw(Write.set(certificate)) }),
      ("a bag with a text", try refusal { $0.bag = .raw(Write.value(0xa0, Write.utf8("x"))) }),
      ("two bags", try refusal { $0.bag = .raw(bag + bag) }),
      ("lists before the bag", try refusal { $0.bag = .raw(Write.explicit(1, []) + bag) }),
      ("two lists", try refusal { $0.revocationLists = .raw([0xa1, 0, 0xa1, 0]) }),
      ("a signer that is a text", try refusal { $0.signerInfos = [.raw(Write.utf8("x"))] }),
      ("an empty signer", try refusal { $0.signerInfos = [.constructed(0x30, [])] }),
      ("a signer without name", try refusal { $0.signerIdentifier = Write.null }),
      ("a signer named by nothing", try refusal { $0.signerIdentifier = Write.sequence() }),
      (
        "a signer without serial",
        try refusal { $0.signerIdentifier = Write.sequence(Write.sequence()) }
      ),
      (
        "a signer of three parts",
        try refusal {
          $0.signerIdentifier = Write.sequence(
            Write.sequence(), Write.unsigned([1]), Write.null)
        }
      ),
      ("a text for the digest", try refusal { $0.signerDigest = Write.utf8("x") }),
      ("a text for the algorithm", try refusal { $0.signatureAlgorithm = Write.utf8("x") }),
      ("unsigned attributes twice", try refusal { $0.unsignedAttributes = [0xa1, 0, 0xa1, 0] }),
      ("something after the signer", try refusal { $0.unsignedAttributes = Write.null }),
    ] {
      checkEqual(wrong?.status, .malformedAppReceiptStructure, "\(name): \(wrong?.place ?? "-")")
    }
  }

  @Test("APR-2 every open container must end with its last member")
  func leftovers() throws {
    let signedData = Write.oid("1.2.840.113549.1.7.2")
    let good = try template().signed()
    var outer = BER.Cursor(good)
    var info = try require(outer.open(0x30))
    _ = info.next(0x06)
    let wrapper = try require(info.open(0xa0))
    var inside = wrapper
    let element = inside.next(0x30)
    let whole = try require(element)
    let data = Array(good[whole.whole])
    let content = Array(good[whole.content])
    let last = outer.next()
    check(last != nil)
    func container(_ wrapped: [UInt8], after: [UInt8] = []) -> [UInt8] {
      Write.sequence(signedData, Write.explicit(0, wrapped), after)
    }
    check(refusal(container(data)) == nil)
    for wrong in [
      container(data, after: Write.null), container(data + Write.null),
      container(Write.sequence(content, Write.null)), container([]), container(Write.null),
      Write.sequence(signedData), Write.sequence(), Write.sequence(Write.null),
      Write.set(signedData, Write.explicit(0, data)), Write.sequence(signedData, data),
    ] {
      checkEqual(refusal(wrong)?.status, .malformedAppReceiptStructure)
    }
  }

  @Test("APR-3 exactly one signer, of version 1, named by issuer and serial")
  func signers() throws {
    let good = try template().signerInfo(over: Self.payload)
    try check(refusal { $0.signerInfos = [good] } == nil)
    try checkEqual(refusal { $0.signerInfos = [] }?.status, .unsupportedAppReceiptSigners)
    try checkEqual(
      refusal { $0.signerInfos = [good, good] }?.status, .unsupportedAppReceiptSigners)
    for version in [[0], [2], [3], [1, 0], []] as [[UInt8]] {
      try checkEqual(
        refusal { $0.signerVersion = version }?.status, .unsupportedAppReceiptSigners)
    }
    let identifier = Write.implicit(0, [UInt8](repeating: 7, count: 20))
    for version in [[1], [3]] as [[UInt8]] {
      let wrong = try refusal {
        $0.signerIdentifier = identifier
        $0.signerVersion = version
      }
      checkEqual(wrong?.status, .unsupportedAppReceiptSignerId)
    }
  }

  @Test("APR-1 certificates, elements, depth and chunks are limited")
  func limits() throws {
    let leaf = try AppReceiptFixture.authority().chain(.current).leaf
    func bag(_ count: Int) throws -> Refusal? {
      try refusal { $0.certificates = [[UInt8]](repeating: leaf, count: count) }
    }
    try check(bag(8) == nil)
    try checkEqual(bag(9)?.status, .tooLargeAppReceiptCertificates)

    let good = try template().signed()
    let elements = try read(good).elements
    var limits = AppReceiptFixture.limits
    limits.ber.elements = elements
    check(refusal(good, limits) == nil)
    limits.ber.elements -= 1
    checkEqual(refusal(good, limits)?.status, .tooLargeAppReceiptElements)

    func deep(_ count: Int) throws -> Refusal? {
      try refusal {
        $0.unsignedAttributes = (0..<count).reduce([0xa1, 0x00]) { inner, _ in
          Write.explicit(1, inner)
        }
      }
    }
    // ContentInfo, [0], SignedData, SET and SignerInfo enclose the attributes.
    try check(deep(18) == nil)
    try checkEqual(deep(19)?.status, .tooLargeAppReceiptDepth)

    var chunked = try template()
    chunked.form = .indefinite(chunk: 1)
    let chunks = Self.payload.count
    limits = AppReceiptFixture.limits
    limits.chunks = 256
    check(refusal(try chunked.signed(), limits) == nil)
    limits.chunks = chunks - 1
    checkEqual(refusal(try chunked.signed(), limits)?.status, .malformedAppReceiptStructure)

    limits = AppReceiptFixture.limits
    limits.payloadBytes = Self.payload.count
    check(refusal(good, limits) == nil)
    limits.payloadBytes -= 1
    checkEqual(refusal(good, limits)?.status, .tooLargeAppReceiptSize)
  }

  @Test("APR-1 one changed byte is refused or read, and never traps")
  func flips() throws {
    for form in [ASN1Tree.Form.definite, .indefinite(chunk: 4)] {
      var template = try template()
      template.form = form
      let good = try template.signed()
      for place in good.indices {
        for mask in [0x01, 0x20, 0x80, 0xff] as [UInt8] {
          var bytes = good
          bytes[place] ^= mask
          _ = refusal(bytes)
          _ = SignedMessage.unverifiedPayload(of: bytes)
        }
      }
    }
  }

  @Test("TRI-3 the unverified payload is the payload")
  func unverified() throws {
    for form in [ASN1Tree.Form.definite, .indefinite(chunk: 4)] {
      var template = try template()
      template.form = form
      let good = try template.signed()
      checkEqual(SignedMessage.unverifiedPayload(of: good).map { Array($0.slice) }, Self.payload)
      for end in 0..<60 {
        check(SignedMessage.unverifiedPayload(of: Array(good[..<end])) == nil)
      }
    }
    var other = try template()
    other.outerType = OID.data
    check(SignedMessage.unverifiedPayload(of: try other.signed()) == nil)
  }
}
