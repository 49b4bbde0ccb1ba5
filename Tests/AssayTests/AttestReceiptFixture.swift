@testable import Assay
@testable import AssayAuthority

/// Makes App Attest receipts and their certificates: every part can be changed before it is signed.
struct AttestReceiptFixture {
  static let now: Int64 = Minted.now
  static let appId = "ABCDE12345.com.example.app"
  private static let made = Result { try AttestReceiptFixture() }

  static func shared() throws -> AttestReceiptFixture { try made.get() }

  let rootKey: SigningKey
  let intermediateKey: SigningKey
  let signerKey: SigningKey
  /// The key that the receipts are about.
  let attestedKey: SigningKey
  var root: CertificateTemplate
  var intermediate: CertificateTemplate
  var signer: CertificateTemplate
  var leaf: CertificateTemplate

  private init() throws {
    rootKey = try .generate(.p384)
    intermediateKey = try .generate(.p256)
    signerKey = try .generate(.p256)
    attestedKey = try .generate(.p256)
    func name(_ common: String) -> [UInt8] {
      DistinguishedName.make([("CN", common), ("O", "Assay"), ("C", "US")])
    }
    func template(
      _ serial: UInt8, _ issuer: String, _ subject: String, _ key: SigningKey,
      _ extensions: [CertificateExtension]
    ) throws -> CertificateTemplate {
      CertificateTemplate(
        serial: [serial, 1, 2, 3], issuer: name(issuer), subject: name(subject),
        notBefore: .standard(Self.now / 1000 - 40 * 86_400),
        notAfter: .standard(Self.now / 1000 + 40 * 86_400), publicKeyInfo: try key.publicKeyInfo(),
        extensions: extensions)
    }
    root = try template(
      1, "Root", "Root", rootKey,
      [.basicConstraints(ca: true), .keyUsage([.keyCertSign, .cRLSign])])
    intermediate = try template(
      2, "Root", "Integration", intermediateKey,
      [
        .basicConstraints(ca: true), .keyUsage([.keyCertSign, .cRLSign]),
        .marker("1.2.840.113635.100.6.2.3"),
      ])
    signer = try template(
      3, "Integration", "Fraud Receipt Signing", signerKey,
      [
        .basicConstraints(ca: false), .keyUsage(.digitalSignature),
        .marker("1.2.840.113635.100.12.15"),
      ])
    signer.sign256()
    leaf = try template(4, "Attestation", "leaf", attestedKey, [.basicConstraints(ca: false)])
    leaf.sign256()
  }

  var point: [UInt8] { get throws { try attestedKey.publicKey() } }

  // MARK: receipts

  /// Returns the certificates of a receipt, in Apple's order.
  func certificates() throws -> CertificateChain {
    CertificateChain(
      leaf: try signer.signed(by: intermediateKey),
      intermediate: try intermediate.signed(by: rootKey), root: try root.signed(by: rootKey),
      key: signerKey)
  }

  /// Returns a time as `2026-11-21T10:20:30.040Z`.
  static func time(_ milliseconds: Int64, digits: Int = 3) -> [UInt8] {
    let date = Array(WrittenDate.iso(milliseconds).utf8.prefix(19))
    let fraction = String(1000 + milliseconds % 1000).dropFirst().prefix(digits)
    return date + Array((digits == 0 ? "Z" : "." + fraction + "Z").utf8)
  }

  /// Returns the fields of an ATTEST receipt, or of a refreshed one.
  func fields(
    refreshed: Bool = false, created: Int64 = now - 60_000, environment: String = "production"
  ) throws -> [AttributeTemplate] {
    var fields = [
      AttributeTemplate(2, Array(Self.appId.utf8)),
      AttributeTemplate(3, try leaf.signed(by: intermediateKey)),
      AttributeTemplate(4, [UInt8](repeating: 0xab, count: 32)),
      AttributeTemplate(5, Base64Text.encode([UInt8](repeating: 0x5a, count: 66))),
      AttributeTemplate(6, Array((refreshed ? "RECEIPT" : "ATTEST").utf8)),
      AttributeTemplate(7, Array(environment.utf8)),
      AttributeTemplate(12, Self.time(created)),
      AttributeTemplate(21, Self.time(created + 90 * 86_400_000)),
    ]
    if refreshed {
      fields.insert(AttributeTemplate(17, Array("2".utf8)), at: 0)
      fields.append(AttributeTemplate(19, Self.time(created + 86_400_000)))
    }
    return fields
  }

  /// Returns a receipt before signing, in Apple's encoding: indefinite lengths, the content in two
  /// chunks.
  func template(_ fields: [AttributeTemplate]) throws -> AppReceiptTemplate {
    var template = AppReceiptTemplate(
      attributes: fields, chain: try certificates(), digest: .sha256)
    template.signatureAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    template.form = .indefinite(chunk: 1000)
    return template
  }

  // MARK: verifications

  struct Answer {
    let receipt: AttestReceipt?
    let refusal: Refusal?
    let checks: CheckLog

    var status: Status { refusal?.status ?? .ok }
    var failed: String { "\(checks.failed)" }
  }

  /// Returns the trust of a configuration; without `attest.receiptAnchors` Apple's root.
  static func trust(_ config: JSONText) throws -> AttestReceiptTrust {
    AttestReceiptTrust(try ConfigurationReader.read(config.bytes).attest, Proofs(capacity: 4))
  }

  /// Returns a trust with one App ID, both environments and this authority's root.
  func trust(_ changes: [(String, JSONText)] = []) throws -> AttestReceiptTrust {
    let root = try root.signed(by: rootKey)
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "attest": [
        "appIds": [.string(Self.appId)],
        "environments": ["production", "development"],
        "receiptAnchors": [.string(utf8: Base64Text.encode(root))],
      ],
    ]
    return try Self.trust(config.setting(changes))
  }

  static func verify(
    _ trust: AttestReceiptTrust, _ input: [UInt8], subject: [UInt8]? = nil, now: Int64 = now
  ) -> Answer {
    var verification = AttestReceiptVerification(trust, nowMs: now)
    do throws(Refusal) {
      let receipt = try verification.run(input, subject: subject)
      return Answer(receipt: receipt, refusal: nil, checks: verification.checks.log)
    } catch {
      return Answer(receipt: nil, refusal: error, checks: verification.checks.log)
    }
  }

  /// Returns the value of `attestReceipt` in a document.
  static func document(_ receipt: AttestReceipt) -> JSONValue {
    var writer = JSONWriter()
    receipt.write(&writer)
    // Only a bug makes this fail; the null value then fails every expectation.
    return (try? JSONReader.readValue(writer.bytes, caps: .files).root)
      ?? JSONValue(json: JSON(bytes: [], nodes: []), index: 0)
  }
}

extension CertificateTemplate {
  /// Sets ECDSA with SHA-256, with which Apple signs device keys and receipt signers.
  mutating func sign256() {
    innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    digest = .sha256
  }
}
