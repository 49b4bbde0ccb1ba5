import CAssay
import CReference

@testable import Assay
@testable import AssayAuthority

/// Targets for `assay_verify_attestation` and `assay_verify_assertion`.
enum AttestTargets {
  private static let fixture = AttestFixture.shared

  // MARK: attestations

  /// The good attestations and their parts.
  struct Parts {
    let whole: [UInt8]
    let leaf: [UInt8]
    let intermediate: [UInt8]
    let receipt: [UInt8]
    let authData: [UInt8]

    init(_ template: AttestationTemplate) throws {
      whole = try template.signed()
      guard let cbor = OtherCBOR(whole), let statement = cbor.value("attStmt"),
        let chain = cbor.value("x5c", in: statement), let data = cbor.string("authData"),
        let receipt = cbor.string("receipt", in: statement)
      else { fatalError("the other reader reads no good attestation") }
      let entries = cbor.children(chain).map { cbor.slice(cbor.items[$0]) }
      (leaf, intermediate, authData) = (entries[0], entries[1], data)
      self.receipt = receipt
    }

    /// The bytes that the receipt's signature covers.
    var content: [UInt8] { AttestTargets.content(receipt) ?? [] }
  }

  static func content(_ receipt: [UInt8]) -> [UInt8]? {
    SignedMessage.unverifiedPayload(of: receipt).map { Array($0.slice) }
  }

  static let good: [Parts] = {
    do {
      let parts = try [
        fixture.device, fixture.device.with { $0.system = .iOS18 },
        fixture.device.with {
          $0.environment = .development
          $0.system = .macOS
        },
      ].map { device in
        try Parts(
          fixture.authority.attestation(
            of: device, clientDataHash: AttestFixture.clientHash, madeMs: AttestFixture.madeMs))
      }
      for good in parts {
        fixture.verifyAttestation(
          fixture.verifier("standard"), good.whole, keyId: fixture.device.keyId
        ).demandAccepted()
      }
      return parts
    } catch { fatalError("no attestations: \(error)") }
  }()

  /// The replacements of 0xFF and a number.
  static let pieces: [[UInt8]] =
    good.flatMap { parts in
      [parts.leaf, parts.intermediate, parts.receipt, parts.authData]
    } + [fixture.device.keyId, AuthenticatorDataTemplate.coseKey(fixture.device.point)]
    + [AttestDigest.sha256(Array(fixture.device.appId.utf8)), fixture.authority.rootCertificate]

  /// Verifies an attestation. Mode 0: the other bytes are the whole object. Mode 1: they are
  /// authenticator data, with a matching nonce. Mode 2: a kind and client data with a good object.
  /// Mode 3: the value of extension 8.5 or 8.7 of a leaf.
  static func attestation(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    let rest = ReceiptFixture.assemble(input.dropFirst(), pieces)
    let handle = selector.verifier.handle
    let keyId = keyId(selector)
    let answer: Answer
    switch selector.mode {
    case 0:
      answer = fixture.verifyAttestation(handle, rest, keyId: keyId)
      if answer.isOK { checkWhole(rest, selector) }
      checkCache(selector, answer, rest, keyId)
    case 1:
      let object = signed(rest)
      answer = fixture.verifyAttestation(handle, object, keyId: keyId)
      if answer.isOK { checkData(rest, answer, selector) }
    case 2:
      let kind = Int32(rest.first ?? 0) % 4
      let data = HostileNames.expand(rest.dropFirst())
      answer = fixture.verifyAttestation(
        handle, good[0].whole, keyId: keyId, kind: kind, clientData: data)
      checkClientData(answer, kind, data)
    default:
      let object = fixture.attestation { template in
        let oid =
          selector.lastBit
          ? AttestLeafExtensions.keyFactsOID : AttestLeafExtensions.systemFactsOID
        template.leaf = template.leaf.replacing(oid, with: CertificateExtension(oid, rest))
      }
      answer = fixture.verifyAttestation(handle, object, keyId: keyId)
      if rest.count < 2048, ["standard", "ignore", "whole"].contains(selector.verifier.name) {
        demand(
          answer.isOK || answer.text("status.name") == "rejected.attest.acl",
          "leaf information refuses: \(answer.text("status.name") ?? "")")
      }
    }
    answer.free()
  }

  /// Returns the key id in one of its forms.
  private static func keyId(_ selector: Selector) -> [UInt8] {
    switch selector.route {
    case .raw: return fixture.device.keyId
    case .base64: return Array(fixture.device.keyIdBase64.utf8)
    case .doubled: return Array(fixture.device.keyIdHex.utf8)
    case .wrapped: return Base64Text.encodeURL(fixture.device.keyId)
    }
  }

  private static func signed(_ data: [UInt8]) -> [UInt8] {
    fixture.attestation { template in
      template.sentAuthData = data
      template.nonce = { _ in
        [AttestLeafExtensions.nonce(AttestDigest.sha256(data + AttestFixture.clientHash))]
      }
    }
  }

  /// Checks that leaf and authenticator data are those of one good object, and the receipt's
  /// content, too.
  private static func checkWhole(_ object: [UInt8], _ selector: Selector) {
    guard let cbor = OtherCBOR(object), cbor.pairs(0).count == 3,
      cbor.string("fmt") == Array("apple-appattest".utf8),
      let statement = cbor.value("attStmt"), let chain = cbor.value("x5c", in: statement),
      let receipt = cbor.string("receipt", in: statement)
    else { fatalError("accepted what the other reader does not read") }
    let entries = cbor.children(chain).map { cbor.slice(cbor.items[$0]) }
    demand(
      entries.count == 2 || entries.last == fixture.authority.rootCertificate, "a long chain")
    let isGood = good.contains { parts in
      parts.leaf == entries[0] && parts.intermediate == entries[1]
        && cbor.string("authData") == parts.authData
    }
    demand(isGood, "accepted what was not signed")
    if selector.verifier.name != "ignore" {
      demand(good.contains { $0.content == content(receipt) }, "accepted a forged receipt")
    }
  }

  /// Checks that the result does not depend on what was verified before.
  private static func checkCache(
    _ selector: Selector, _ answer: Answer, _ object: [UInt8], _ keyId: [UInt8]
  ) {
    guard selector.verifier.name == "standard" else { return }
    let fresh = fixture.verifyAttestation(fixture.verifier("no-cache"), object, keyId: keyId)
    for member in ["attestation", "error", "checks", "warnings"] {
      demand(fresh.source(member) == answer.source(member), "the cache changes \(member)")
    }
    fresh.free()
  }

  /// Checks authenticator data offset by offset (docs/spec/app-attest.md §3.1).
  private static func checkData(
    _ data: [UInt8], _ answer: Answer, _ selector: Selector
  ) {
    let device = fixture.device
    demand(data.count >= 164 && data.count <= 1024, "a length of \(data.count)")
    demand(data[..<32].elementsEqual(AttestDigest.sha256(Array(device.appId.utf8))), "rpIdHash")
    demand(data[32] & 0x40 != 0, "flags")
    demand(data[33..<37].allSatisfy { $0 == 0 }, "a counter")
    // The receipt, if it is verified, is one of production.
    let names = ["appattest\0\0\0\0\0\0\0", "appattestdevelop", "appattestsandbox"]
    demand(
      names.prefix(selector.verifier.name == "ignore" ? 3 : 1).contains {
        data[37..<53].elementsEqual($0.utf8)
      }, "aaguid")
    demand(data[53..<55].elementsEqual([0, 32]), "length of the credential id")
    demand(data[55..<87].elementsEqual(device.keyId), "credential id")
    demand(
      data[87..<164].elementsEqual(AuthenticatorDataTemplate.coseKey(device.point)), "COSE key")
    let found = OtherExtensions(data, after: 164)
    demand(found != nil, "accepted extensions that the other reader refuses")
    demand(
      answer.text("attestation.bundleVersion").map { Array($0.utf8) } == found?.bundleVersion,
      "bundleVersion differs")
    demand(
      answer.tree?.member("attestation")?.member("category")?.integer
        == found?.category.map { Int64($0) }, "category differs")
  }

  private static func checkClientData(_ answer: Answer, _ kind: Int32, _ data: [UInt8]) {
    guard answer.isOK else { return }
    demand(
      kind == AttestFixture.data && data == AttestFixture.clientData
        || kind == AttestFixture.hash && data == AttestFixture.clientHash,
      "accepted other client data")
  }

  // MARK: assertions

  /// The good assertions: authenticator data and object, by counter and system.
  static let goodAssertions: [(data: [UInt8], signature: [UInt8], whole: [UInt8])] = [
    (fixture.device, UInt32(1)), (fixture.device.with { $0.system = .iOS18 }, 7),
  ].map { device, counter in
    let data = device.assertionData(counter: counter).bytes
    let whole = fixture.assertion(over: data)
    guard let signature = OtherCBOR(whole)?.string("signature") else { fatalError("assertion") }
    fixture.verifyAssertion(fixture.verifier("standard"), whole, key: fixture.device.point)
      .demandAccepted()
    return (data, signature, whole)
  }

  static let assertionPieces: [[UInt8]] =
    goodAssertions.flatMap { [$0.data, $0.signature] } + [Array(goodAssertions[0].data[..<32])]

  /// Verifies an assertion. Mode 0: the other bytes are the whole object. Mode 1: authenticator
  /// data, signed. Mode 2: the signature of a good object. Mode 3: a kind and client data, which
  /// with the last bit are those that the key signed.
  static func assertion(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    let rest = ReceiptFixture.assemble(input.dropFirst(), assertionPieces)
    let handle = selector.verifier.handle
    let key = (try? publicKey(selector)) ?? []
    let stored: UInt32 = selector.lastBit ? 3 : 0
    let answer: Answer
    switch selector.mode {
    case 0:
      answer = fixture.verifyAssertion(handle, rest, key: key, counter: stored)
      if answer.isOK {
        let data = OtherCBOR(rest)?.string("authenticatorData")
        demand(goodAssertions.contains { $0.data == data }, "accepted what was not signed")
        checkSignature(OtherCBOR(rest)?.string("signature") ?? [])
        checkAsserted(data ?? [], answer, stored)
      }
    case 1:
      answer = fixture.verifyAssertion(
        handle, fixture.assertion(over: rest), key: key, counter: stored)
      if answer.isOK { checkAsserted(rest, answer, stored) }
    case 2:
      let object = AttestFixture.assertion(rest, goodAssertions[0].data)
      answer = fixture.verifyAssertion(handle, object, key: key)
      if answer.isOK { checkSignature(rest) }
    default:
      let kind = Int32(rest.first ?? 0) % 4
      let data = HostileNames.expand(rest.dropFirst())
      let object =
        selector.lastBit
        ? fixture.assertion(over: goodAssertions[0].data, data) : goodAssertions[0].whole
      answer = fixture.verifyAssertion(handle, object, key: key, kind: kind, clientData: data)
      if selector.lastBit {
        demand(!answer.isOK || kind == AttestFixture.data, "accepted a hash that was not signed")
      } else {
        checkClientData(answer, kind, data)
      }
    }
    answer.free()
  }

  private static func publicKey(_ selector: Selector) throws -> [UInt8] {
    switch selector.route {
    case .raw, .doubled: return fixture.device.point
    case .base64, .wrapped: return try fixture.device.key.publicKeyInfo()
    }
  }

  /// Checks that a signature is one of the good ones or its counterpart (r, n − s), because only
  /// the key can make one.
  private static func checkSignature(_ der: [UInt8]) {
    guard let mine = try? AssayAuthority.ECDSASignature(der: der) else {
      fatalError("accepted a signature that the other reader does not read")
    }
    demand(mine.der == der, "accepted another spelling of a signature")
    let isGood = goodAssertions.contains { other in
      (try? AssayAuthority.ECDSASignature(der: other.signature))?.r == mine.r
    }
    demand(isGood, "accepted a forged signature")
  }

  private static func checkAsserted(_ data: [UInt8], _ answer: Answer, _ stored: UInt32) {
    demand(data.count >= 37 && data.count <= 1024, "a length of \(data.count)")
    demand(
      data[..<32].elementsEqual(AttestDigest.sha256(Array(fixture.device.appId.utf8)))
        || data[..<32].elementsEqual(
          AttestDigest.sha256(Array("ABCDE12345.com.example.second".utf8))),
      "rpIdHash")
    let counter = data[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    demand(counter > stored, "a counter that did not rise")
    demand(
      answer.tree?.member("assertion")?.member("counter")?.integer == Int64(counter),
      "the counter differs")
    let found = OtherExtensions(data, after: 37)
    demand(found != nil, "accepted extensions that the other reader refuses")
    demand(
      answer.text("assertion.bundleVersion").map { Array($0.utf8) } == found?.bundleVersion,
      "bundleVersion differs")
  }
}

/// The extensions of authenticator data as the second reader reads them (ATT-15).
struct OtherExtensions {
  private(set) var category: UInt32? = nil
  private(set) var bundleVersion: [UInt8]? = nil
  private(set) var others = 0

  init?(_ data: [UInt8], after count: Int) {
    guard data.count > count else { return }
    guard let cbor = OtherCBOR(Array(data[count...])), cbor.items[0].major == 5,
      cbor.items[0].argument <= 8
    else { return nil }
    for (key, value) in cbor.pairs(0) {
      let item = cbor.items[value]
      guard cbor.items[key].major == 3 else { return nil }
      switch String(decoding: cbor.slice(cbor.items[key]), as: UTF8.self) {
      case "apple_bundle_version_01", "bundleVersion":
        guard item.major == 3, bundleVersion == nil else { return nil }
        bundleVersion = cbor.slice(item)
      case "apple_validation_category_01", "validationCategory":
        guard category == nil, let number = OtherExtensions.category(item, cbor) else {
          return nil
        }
        category = number
      default: others += 1
      }
    }
  }

  private static func category(_ item: reference_cbor_item, _ cbor: OtherCBOR) -> UInt32? {
    if item.major == 0 { return UInt32(exactly: item.argument) }
    let octets = cbor.slice(item)
    guard item.major == 2, octets.count == 4 else { return nil }
    return UInt32(octets[0]) | UInt32(octets[1]) << 8 | UInt32(octets[2]) << 16
      | UInt32(octets[3]) << 24
  }
}
