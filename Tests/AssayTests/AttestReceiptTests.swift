import AssayAuthority
import Testing

@testable import Assay

private typealias Write = AssayAuthority.DER

/// Tests receipts that differ from a good one in one thing (FRC-1 … FRC-11).
@Suite("App Attest receipt")
struct AttestReceiptTests {
  private static let now = AttestReceiptFixture.now
  private static let day: Int64 = 86_400_000

  private func expect(
    _ status: Status, _ check: String, at place: String? = nil,
    _ answer: AttestReceiptFixture.Answer, _ location: SourceLocation = #_sourceLocation
  ) {
    checkEqual(
      answer.status, status, "\(answer.status.name) \(answer.refusal?.place ?? "")",
      sourceLocation: location)
    checkEqual(answer.failed, check, sourceLocation: location)
    if let place { checkEqual(answer.refusal?.place, place, sourceLocation: location) }
  }

  /// Verifies a receipt of the fields, with changed certificates and container.
  private func verify(
    _ fields: [AttributeTemplate]? = nil, _ config: [(String, JSONText)] = [],
    subject: [UInt8]? = nil, now: Int64 = Self.now,
    container: (inout AppReceiptTemplate) throws -> Void = { _ in },
    certificates: (inout AttestReceiptFixture) throws -> Void = { _ in }
  ) throws -> AttestReceiptFixture.Answer {
    let fixture = try AttestReceiptFixture.shared()
    var changed = fixture
    try certificates(&changed)
    var template = try changed.template(fields ?? changed.fields())
    try container(&template)
    return AttestReceiptFixture.verify(
      try fixture.trust(config), try template.signed(), subject: subject, now: now)
  }

  private func fields(refreshed: Bool = false) throws -> [AttributeTemplate] {
    try AttestReceiptFixture.shared().fields(refreshed: refreshed)
  }

  // MARK: good ones

  @Test("FRC-4 a known chain gives the same facts as an unseen one, and no others")
  func cached() throws {
    let fixture = try AttestReceiptFixture.shared()
    let template = try fixture.template(fixture.fields())
    let good = try template.signed()
    for cache in [0, 4] {
      let policy = try fixture.trust().policy
      let trust = AttestReceiptTrust(policy, Proofs(capacity: cache))
      let first = try require(AttestReceiptFixture.verify(trust, good).receipt)
      let second = try require(AttestReceiptFixture.verify(trust, good).receipt)
      var writers = (JSONWriter(), JSONWriter())
      first.write(&writers.0)
      second.write(&writers.1)
      checkEqual(writers.0.bytes, writers.1.bytes)
      var forged = template
      forged.sentPayload = AttributeTemplate.set(
        template.attributes.changing(5) { $0.value[0] ^= 1 })
      expect(
        .rejectedAttestReceiptSignature, "receipt.signature",
        AttestReceiptFixture.verify(trust, try forged.signed()))
      // The same certificates, but with another serial number.
      var other = template
      other.signerIdentifier = try AppReceiptTemplate.issuerAndSerial(template.chain.intermediate)
      check(AttestReceiptFixture.verify(trust, try other.signed()).status != .ok)
    }
  }

  @Test("FRC-1 what is empty, too long, cut, continued, or something else")
  func transport() throws {
    let fixture = try AttestReceiptFixture.shared()
    let trust = try fixture.trust()
    func status(_ input: [UInt8]) -> Status { AttestReceiptFixture.verify(trust, input).status }
    let good = try fixture.template(fixture.fields()).signed()
    checkEqual(status([]), .malformedAttestReceiptEmpty)
    checkEqual(status(utf8(" \r\n")), .malformedAttestReceiptEmpty)
    checkEqual(status(utf8("not base64!")), .malformedTransportBase64)
    checkEqual(status([UInt8](repeating: 0x41, count: 65_537)), .tooLargeAttestReceiptSize)
    checkEqual(status(good + [0]), .malformedAttestReceiptTrailing)
    checkEqual(status(Array(good.dropLast())), .malformedAttestReceiptBer)
    checkEqual(status(utf8("{\"a\":1}")), .rejectedKindMismatch)
    checkEqual(status(utf8("eyJhIjoxfQ.e30.AA")), .rejectedKindMismatch)
    let app = try AppReceiptFixture.authority().appReceipt(
      AppReceiptFacts([Minted.purchase], like: Minted.purchase))
    checkEqual(status(app), .rejectedKindMismatch)
    let long = try fixture.template(
      fixture.fields() + [AttributeTemplate(99, [UInt8](repeating: 0, count: 16_000))]
    ).signed()
    checkEqual(status(long), .tooLargeAttestReceiptSize)
  }

  // MARK: transport and container

  @Test("FRC-1 content, elements and depth have limits")
  func limits() throws {
    // Certificates are signed once: their length differs between signatures.
    let good = try fields()
    let size = Write.value(0x31, good.flatMap(\.der)).count
    let rest = 8192 - size
    // The heads of a value of that length take 22 bytes.
    func padded(_ count: Int) -> [AttributeTemplate] {
      good + [AttributeTemplate(99, [UInt8](repeating: 0, count: count))]
    }
    let exact = (rest - 30..<rest).first {
      Write.value(0x31, padded($0).flatMap(\.der)).count == 8192
    }
    let most = try require(exact)
    try checkEqual(verify(padded(most)).status, .ok)
    expect(.tooLargeAttestReceiptSize, "receipt.container", try verify(padded(most + 1)))
    expect(
      .tooLargeAttestReceiptSize, "receipt.container",
      try verify {
        $0.unsignedAttributes = Write.value(
          0xa1, [UInt8](repeating: 0x05, count: 4096).flatMap { [$0, 0] })
      })
    expect(
      .tooLargeAttestReceiptSize, "receipt.container",
      try verify {
        $0.unsignedAttributes = (0..<30).reduce([0xa1, 0x00]) { inner, _ in
          Write.explicit(1, inner)
        }
      })
  }

  @Test("FRC-2 version, content, signers and parameters are the usual ones")
  func container() throws {
    let sha256 = CertificateTemplate.algorithm(OID.sha256, parameters: Write.null)
    for (status, change) in [
      (.malformedAttestReceiptStructure, { $0.version = [3] }),
      (.malformedAttestReceiptStructure, { $0.content = .raw([]) }),
      (.unsupportedAttestReceiptSigners, { $0.signerVersion = [3] }),
      (.unsupportedAttestReceiptSigners, { $0.signerIdentifier = Write.implicit(0, [1, 2]) }),
      (
        .unsupportedAttestReceiptDigest,
        { $0.signerDigest = CertificateTemplate.algorithm(OID.sha256, parameters: [0x30, 0]) }
      ),
      (
        .unsupportedAttestReceiptDigest,
        {
          $0.digestAlgorithms = [
            CertificateTemplate.algorithm(OID.sha256, parameters: [0x30, 0])
          ]
        }
      ),
      (
        .unsupportedAttestReceiptSignatureAlgorithm,
        {
          $0.signatureAlgorithm = CertificateTemplate.algorithm(
            OID.ecdsaWithSHA256, parameters: [0x30, 0])
        }
      ),
      (
        .unsupportedAttestReceiptSignedAttributes,
        { $0.signedAttributes = Write.explicit(0, Write.sequence(Write.oid("1.2.3"))) }
      ),
    ] as [(Status, (inout AppReceiptTemplate) -> Void)] {
      expect(status, "receipt.container", try verify(container: change))
    }
    try checkEqual(verify { $0.signerDigest = sha256 }.status, .ok)
  }

  // MARK: chain

  @Test("FRC-4 signer and intermediate have their purpose, usage and keys")
  func shape() throws {
    for (status, place, change) in [
      (
        .rejectedChainKeyUsage, "signer",
        { $0.signer = $0.signer.replacing(OID.keyUsage, with: nil) }
      ),
      (
        .rejectedChainKey, "signer",
        { fixture in
          var info = fixture.signer.publicKeyInfo
          info[info.count - 1] ^= 1
          fixture.signer.publicKeyInfo = info
        }
      ),
      (
        .rejectedChainDuplicateExtension, "signer",
        { $0.signer = $0.signer.adding(.marker("1.2.840.113635.100.12.15")) }
      ),
      (
        .rejectedChainSignatureAlgorithm, "signer",
        {
          $0.signer.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512)
          $0.signer.digest = .sha512
        }
      ),
      (
        .rejectedChainVersion, "intermediate",
        { $0.intermediate.version = Write.explicit(0, [2, 1, 1]) }
      ),
      (.rejectedChainSerial, "intermediate", { $0.intermediate.serial = [0] }),
      (
        .rejectedChainSignatureAlgorithm, "intermediate",
        {
          $0.intermediate.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512)
          $0.intermediate.digest = .sha512
        }
      ),
      (
        .rejectedChainCriticalExtension, "intermediate",
        {
          $0.intermediate = $0.intermediate.adding(
            CertificateExtension("1.2.3.4", critical: true, [5, 0]))
        }
      ),
    ] as [(Status, String, (inout AttestReceiptFixture) throws -> Void)] {
      expect(status, "chain.shape", at: place, try verify(certificates: change))
    }
  }

  @Test("FRC-4 the chain's certificates and names, and other intermediates of its name")
  func chain() throws {
    expect(
      .malformedChainDer, "chain.certificates", at: "certificates[0]",
      try verify { $0.certificates[0] = Write.sequence([0x05, 0x00]) })
    expect(
      .rejectedChainNames, "chain.certificates", at: "signer",
      try verify { $0.certificates.removeFirst() })
    // Another intermediate of the same name, at every position.
    let fixture = try AttestReceiptFixture.shared()
    var twin = fixture.intermediate
    twin.publicKeyInfo = try fixture.attestedKey.publicKeyInfo()
    let other = try twin.signed(by: fixture.rootKey)
    for place in 0...3 {
      try checkEqual(verify { $0.certificates.insert(other, at: place) }.status, .ok)
    }
    expect(
      .rejectedChainSignatureLeaf, "chain.signatures", at: "signer",
      try verify { $0.certificates[1] = other })
  }

  @Test("FRC-5 the chain is judged at the creation time, to the second")
  func validity() throws {
    let seconds = Self.now / 1000 - 60
    for (status, place, change) in [
      (
        .rejectedChainExpired, "signer",
        { $0.signer.notAfter = .standard(seconds - 1) }
      ),
      (
        .rejectedChainNotYetValid, "signer",
        { $0.signer.notBefore = .standard(seconds + 1) }
      ),
      (
        .rejectedChainExpired, "intermediate",
        { $0.intermediate.notAfter = .standard(seconds - 1) }
      ),
      (.ok, "", { $0.signer.notAfter = .standard(seconds) }),
      (.ok, "", { $0.signer.notBefore = .standard(seconds) }),
    ] as [(Status, String, (inout AttestReceiptFixture) -> Void)] {
      let answer = try verify(certificates: change)
      check(answer.status == status && answer.refusal?.place ?? "" == place)
    }
  }

  // MARK: fields

  @Test("FRC-6 fields are there once, in version 1")
  func form() throws {
    let good = try fields()
    for type in [2, 3, 4, 5, 7, 12, 21] {
      expect(
        .malformedAttestReceiptField, "receipt.fields", at: "field \(type)",
        try verify(good.removing(type)))
    }
    for type in [2, 6, 21] {
      let field = try require(good.first { $0.isType(type) })
      expect(
        .malformedAttestReceiptField, "receipt.fields", at: "field \(type)",
        try verify(good + [field]))
      expect(
        .malformedAttestReceiptField, "receipt.fields", at: "field \(type)",
        try verify(good.changing(type) { $0.versionOctets = [2] }))
    }
    func content(_ change: ([UInt8]) -> [UInt8]) throws -> AttestReceiptFixture.Answer {
      try verify { $0.payload = change(AttributeTemplate.set($0.attributes)) }
    }
    let check = "receipt.fields"
    expect(.malformedAttestReceiptStructure, check, try content { $0 + [0x05, 0x00] })
    expect(.malformedAttestReceiptStructure, check, try content { [0x30] + $0.dropFirst() })
    expect(.malformedAttestReceiptBer, check, try content { Array($0.dropLast()) })
    expect(.malformedAttestReceiptBer, check, try content { _ in [] })
    expect(
      .malformedAttestReceiptBer, check,
      try content { _ in [0x31, 0x80, 0x00, 0x00] })
    for (status, parts) in [
      (.malformedAttestReceiptBer, Write.unsigned([4])),
      (.malformedAttestReceiptField, Write.unsigned([4]) + Write.null + Write.octetString([])),
      (.malformedAttestReceiptField, Write.unsigned([4]) + Write.unsigned([1]) + Write.null),
    ] as [(Status, [UInt8])] {
      expect(status, check, try verify(good.changing(4) { $0.whole = Write.sequence(parts) }))
    }
  }

  @Test("FRC-6 texts, token and certificate have their forms")
  func values() throws {
    for (type, value) in [
      (2, []), (2, [0xff]), (5, []), (5, utf8("not base64")), (5, utf8("YQ")),
      (3, []), (3, Write.sequence(Write.null)), (7, []),
    ] as [(Int, [UInt8])] {
      expect(
        .malformedAttestReceiptField, "receipt.fields", at: "field \(type)",
        try verify(fields().changing(type) { $0.value = value }))
    }
    let fixture = try AttestReceiptFixture.shared()
    func verified(_ publicKeyInfo: [UInt8]) throws -> AttestReceiptFixture.Answer {
      var leaf = fixture.leaf
      leaf.publicKeyInfo = publicKeyInfo
      let certificate = try leaf.signed(by: fixture.intermediateKey)
      return try verify(fields().changing(3) { $0.value = certificate })
    }
    let point = try fixture.point
    try checkEqual(verified(KeyEncoding.named(OID.p256, point)).status, .ok)
    for other in [
      try SigningKey.generate(.p384).publicKeyInfo(),
      // Another curve whose points are as long: brainpoolP256r1.
      KeyEncoding.named("1.3.36.3.3.2.8.1.1.7", point),
      KeyEncoding.named(OID.p256, KeyEncoding.compressed(point)),
      KeyEncoding.named(OID.p256, KeyEncoding.hybrid(point)),
      KeyEncoding.named(OID.p256, point + [0]),
    ] {
      expect(
        .malformedAttestReceiptField, "receipt.fields", at: "field 3", try verified(other))
    }
  }

  @Test("FRC-7 the type agrees with metric and refresh time")
  func type() throws {
    let first = try fields()
    let refreshed = try fields(refreshed: true)
    let check = "receipt.fields"
    for (wrong, place) in [
      (first.changing(6) { $0.value = utf8("attest") }, "field 6"),
      (first.changing(6) { $0.value = utf8("RECEIPT") }, "field 17"),
      (refreshed.changing(6) { $0.value = utf8("ATTEST") }, "field 17"),
      (refreshed.removing(17), "field 17"), (refreshed.removing(19), "field 19"),
      (first + [AttributeTemplate(17, utf8("1"))], "field 17"),
      (first + [AttributeTemplate(19, AttestReceiptFixture.time(Self.now))], "field 19"),
    ] {
      expect(.malformedAttestReceiptType, check, at: place, try verify(wrong))
    }
    expect(
      .malformedAttestReceiptField, check, at: "field 6", try verify(first.removing(6)))
  }

  @Test("FRC-7 times have no more than nine digits of a fraction, and Z")
  func times() throws {
    let whole = AppReceiptDate.milliseconds(utf8("2026-11-21T10:20:30Z")[...])
    let base = try require(whole)
    for (text, expected) in [
      ("2026-11-21T10:20:30Z", base), ("2026-11-21T10:20:30.4Z", base + 400),
      ("2026-11-21T10:20:30.46Z", base + 460), ("2026-11-21T10:20:30.046Z", base + 46),
      ("2026-11-21T10:20:30.0469Z", base + 46),
      ("2026-11-21T10:20:30.999999999Z", base + 999),
      ("2026-11-21T10:20:30.Z", nil), ("2026-11-21T10:20:30.0000000000Z", nil),
      ("2026-11-21T10:20:30.04x9Z", nil), ("2026-11-21T10:20:30,046Z", nil),
      ("2026-11-21T10:20:30+0000", nil), ("2026-11-21T10:20:30.046+00:00", nil),
      ("2026-11-21T10:20:30", nil), ("2026-11-21 10:20:30Z", nil),
      ("2026-02-29T10:20:30Z", nil), ("2026-11-21T24:00:00Z", nil), ("", nil), ("Z", nil),
      ("2026-11-21T10:20:30.046z", nil), ("2026-11-21T10:20:30.046ZZ", nil),
      ("2026-11-21T10:20:30-00:00Z", nil), ("2026-11-21T10:20:30.04-00Z", nil),
    ] as [(String, Int64?)] {
      checkEqual(AttestReceiptTime.milliseconds(utf8(text)[...]), expected, "\(text)")
    }
    for type in [12, 21] {
      expect(
        .malformedAttestReceiptTime, "receipt.fields", at: "field \(type)",
        try verify(fields().changing(type) { $0.value = utf8("yesterday") }))
      for text in ["2007-12-31T23:59:59.999Z", "2100-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
        expect(
          .rejectedDateRange, "receipt.fields", at: "field \(type)",
          try verify(fields().changing(type) { $0.value = utf8(text) }))
      }
    }
    expect(
      .malformedAttestReceiptTime, "receipt.fields", at: "field 19",
      try verify(fields(refreshed: true).changing(19) { $0.value = utf8("soon") }))
  }

  // MARK: identity and age

  @Test("FRC-7 FRC-8 FRC-9 FRC-11 the check and the field that a refusal names")
  func places() throws {
    let fixture = try AttestReceiptFixture.shared()
    expect(
      .rejectedAttestReceiptAppId, "identity.app-id", at: "field 2",
      try verify(fields().changing(2) { $0.value = utf8("ABCDE12345.com.example.apq") }))
    expect(
      .rejectedAttestReceiptEnvironment, "identity.environment", at: "field 7",
      try verify(fields().changing(7) { $0.value = utf8("Production") }))
    expect(
      .rejectedAttestReceiptKey, "receipt.key", at: "field 3", try verify(subject: [4]))
    expect(
      .malformedAttestReceiptMetric, "receipt.fields", at: "field 17",
      try verify(fields(refreshed: true).changing(17) { $0.value = [] }))
    expect(
      .rejectedFreshnessStale, "freshness",
      try verify(fixture.fields(created: Self.now - 300_001)))
    expect(
      .rejectedDateFuture, "chain.validity", at: "field 12",
      try verify(fixture.fields(created: Self.now + 60_001)))
  }

  @Test("FRC-11 expiry, to the millisecond")
  func age() throws {
    func expiring(_ at: Int64) throws -> [AttributeTemplate] {
      try fields().changing(21) { $0.value = AttestReceiptFixture.time(at) }
    }
    try checkEqual(verify(expiring(Self.now)).status, .ok)
    expect(
      .rejectedAttestReceiptExpired, "receipt.expiry", at: "field 21",
      try verify(expiring(Self.now - 1)))
    let stored = try verify(expiring(Self.now - 1), [("attest.time", "stored")])
    checkEqual(stored.receipt?.isExpired, true)
    let last = try verify(expiring(Self.now), [("attest.time", "stored")])
    checkEqual(last.receipt?.isExpired, false)
  }

  @Test("RFR-1 RFR-3 when a refresh is due")
  func refresh() throws {
    let fixture = try AttestReceiptFixture.shared()
    func receipt(
      _ age: Int64, refreshed: Bool = true, every: Int64 = 86_400_000,
      _ change: ([AttributeTemplate]) -> [AttributeTemplate] = { $0 }
    ) throws -> AttestReceipt {
      let fields = try fixture.fields(refreshed: refreshed, created: Self.now - age)
      let config: [(String, JSONText)] = [
        ("attest.time", "stored"), ("attest.refreshEveryMs", .integer(every)),
      ]
      let answer = try verify(change(fields), config)
      return try require(answer.receipt, "\(answer.status.name)")
    }
    let day = Self.day
    func expect(
      _ receipt: AttestReceipt, at: Int64?, due: Bool,
      _ location: SourceLocation = #_sourceLocation
    ) {
      checkEqual(receipt.refreshAtMs, at, sourceLocation: location)
      checkEqual(receipt.refreshDue, due, sourceLocation: location)
    }
    let now = Self.now
    try expect(receipt(-5000, refreshed: false), at: now + 5000, due: true)
    try expect(receipt(30 * day - 1, refreshed: false), at: now - 30 * day + 1, due: true)
    try expect(receipt(30 * day, refreshed: false), at: nil, due: false)
    try expect(receipt(30 * day - 1), at: now - 29 * day + 1, due: true)
    try expect(receipt(30 * day), at: nil, due: false)
    try expect(receipt(day, every: 3 * day), at: now + 2 * day, due: false)
    try expect(receipt(day, every: 50 * day), at: now + 28 * day, due: false)
    // Apple's example has 30 days, after which Apple may delete its data for a receipt.
    try expect(
      receipt(day) { $0.changing(19) { $0.value = AttestReceiptFixture.time(now + 29 * day) } },
      at: now + 29 * day, due: false)
    try expect(
      receipt(31 * day) { $0.changing(19) { $0.value = AttestReceiptFixture.time(now - day) } },
      at: now - day, due: true)
    try expect(
      receipt(day) { $0.changing(19) { $0.value = AttestReceiptFixture.time(now + 89 * day) } },
      at: nil, due: false)
  }

  @Test("FRC-9 FRC-10 ATT-12 inside an attestation the receipt is of this key, app and type")
  func embedded() throws {
    let fixture = try AttestReceiptFixture.shared()
    let trust = try fixture.trust([("attest.environments", ["production"])])
    let point = try fixture.point
    func refusal(
      _ fields: [AttributeTemplate]? = nil, key: [UInt8]? = nil, isProduction: Bool = true,
      now: Int64 = Self.now, _ bytes: [UInt8]? = nil
    ) throws -> Refusal? {
      let receipt = try bytes ?? fixture.template(fields ?? fixture.fields()).signed()
      var budget = SignatureBudget()
      do throws(Refusal) {
        let proven = try AttestReceiptVerification.verifyEmbedded(
          receipt[...], trust, leafKey: key ?? point, appId: Text(AttestReceiptFixture.appId),
          isProduction: isProduction, nowMs: now, &budget)
        check(proven.bound && proven.bytes == receipt)
        return nil
      } catch {
        return error
      }
    }
    try check(refusal() == nil)
    var other = point
    other[64] ^= 1
    for (found, status, place) in [
      (try refusal(key: other), .rejectedAttestReceiptKey, "receipt/field 3"),
      (try refusal(isProduction: false), .rejectedAttestReceiptEnvironment, "receipt/field 7"),
      (
        try refusal(fixture.fields(refreshed: true)), .rejectedAttestReceiptKind,
        "receipt/field 6"
      ),
      (
        try refusal(fields().changing(2) { $0.value = utf8("ABCDE12345.com.example.other") }),
        .rejectedAttestReceiptAppId, "receipt/field 2"
      ),
      (try refusal(now: Self.now + 300_000), .rejectedFreshnessStale, "receipt/field 12"),
      (try refusal([]), .malformedAttestReceiptField, "receipt/field 2"),
      (try refusal(nil, [UInt8]()), .malformedAttestReceiptEmpty, "receipt"),
      (try refusal(nil, [0x30]), .malformedAttestReceiptBer, "receipt/byte 0"),
      (
        try refusal(nil, [UInt8](repeating: 0x30, count: 16_385)), .tooLargeAttestReceiptSize,
        "receipt"
      ),
    ] as [(Refusal?, Status, String)] {
      check(found?.status == status && found?.place == place, "\(found?.status.name ?? "ok")")
    }
  }

  // MARK: hostile input

  @Test("FRC-1 receipts with one changed byte: another fact is never accepted")
  func flips() throws {
    let fixture = try AttestReceiptFixture.shared()
    let trust = try fixture.trust()
    let good = try fixture.template(fixture.fields(refreshed: true)).signed()
    let expected = try require(AttestReceiptFixture.verify(trust, good).receipt).fields
    var refused = 0
    for place in good.indices {
      var bytes = good
      bytes[place] ^= 0x01 << UInt8(place % 8)
      let answer = AttestReceiptFixture.verify(trust, bytes)
      if let receipt = answer.receipt {
        checkEqual(receipt.fields.content.slice, expected.content.slice)
      } else {
        refused += 1
      }
    }
    check(refused > good.count / 3)
  }
}
