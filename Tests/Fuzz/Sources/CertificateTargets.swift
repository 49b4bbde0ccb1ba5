import CAssay
import CReference

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// Targets for certificates: the reader, compared with libcrypto, and chains in which one
/// certificate is any bytes.
enum CertificateTargets {
  private static let fixture = FuzzFixture.shared

  /// A chain of P-256 keys only, which is quick to sign. In an input's certificate the point of
  /// `standIn` is replaced by a real key.
  struct QuickChain {
    let rootKey: SigningKey
    let intermediateKey: SigningKey
    let leafKey: SigningKey
    let root: [UInt8]
    let intermediate: [UInt8]
    let leaf: [UInt8]
    let verifier: OpaquePointer

    static let standIn: [UInt8] = [4] + [UInt8](repeating: 0x41, count: 64)
    static let algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)

    static func template(_ model: CertificateTemplate, _ point: [UInt8]) -> CertificateTemplate {
      var template = model
      template.publicKeyInfo = KeyEncoding.named(OID.p256, point)
      template.innerAlgorithm = algorithm
      template.digest = .sha256
      template.serial = [0x21, 0x43]
      return template
    }

    init() throws {
      rootKey = try .generate(.p256)
      intermediateKey = try .generate(.p256)
      leafKey = try .generate(.p256)
      let authority = fixture.authority
      root = try QuickChain.template(authority.root, try rootKey.publicKey())
        .signed(by: rootKey)
      intermediate = try QuickChain.template(
        authority.intermediate, try intermediateKey.publicKey()
      ).signed(by: rootKey)
      leaf = try QuickChain.template(authority.leaf, try leafKey.publicKey())
        .signed(by: intermediateKey)
      let anchors: JSONText = [.string(utf8: Base64Text.encode(root))]
      verifier = FuzzFixture.verifier(
        fixture.cases.standardConfig.setting("storekit.anchors", anchors).bytes)
    }
  }

  static let quick: QuickChain = {
    do { return try QuickChain() } catch { fatalError("no chain: \(error)") }
  }()

  private static let payload = Purchase(now: FuzzFixture.instant).transactionPayload.bytes

  /// Reads a certificate. The first byte selects what the others are: a certificate for the reader,
  /// an unchanged leaf or intermediate, a signed one, an anchor.
  static func certificate(_ input: [UInt8]) {
    guard let mode = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch mode % 6 {
    case 0: compare(bytes)
    case 1: verify(leaf: bytes, intermediate: quick.intermediate)
    case 2: verify(leaf: quick.leaf, intermediate: bytes)
    case 3:
      verify(
        leaf: signed(bytes, quick.leafKey, by: quick.intermediateKey),
        intermediate: quick.intermediate)
    case 4:
      verify(
        leaf: quick.leaf, intermediate: signed(bytes, quick.intermediateKey, by: quick.rootKey))
    default: anchor(signed(bytes, quick.rootKey, by: quick.rootKey))
    }
  }

  // MARK: the reader

  /// Checks that libcrypto reads in full, and equally, what the strict reader accepts.
  private static func compare(_ der: [UInt8]) {
    guard let mine = Certificate(der) else { return }
    guard let other = reference_certificate_read(der, der.count) else {
      fatalError("libcrypto does not read an accepted certificate")
    }
    defer { reference_certificate_free(other) }
    for (field, range) in [
      (REFERENCE_SERIAL, mine.serial), (REFERENCE_ISSUER, mine.issuer),
      (REFERENCE_SUBJECT, mine.subject), (REFERENCE_KEY, mine.key),
    ] {
      if range.count > 4096 { continue }
      var out = [UInt8](repeating: 0, count: 4096)
      let count = reference_certificate_field(other, Int32(field), &out)
      demand(out[..<count] == mine.bytes(range), "field \(field) differs")
    }
    demand(reference_certificate_date(other, 0) == mine.notBefore, "notBefore differs")
    demand(reference_certificate_date(other, 1) == mine.notAfter, "notAfter differs")
    if mine.version > 0 {
      demand(reference_certificate_version(other) + 1 == mine.version, "version differs")
    }
    demand(
      Int(reference_certificate_extensions(other)) == mine.extensions.count,
      "the number of extensions differs")
    compareExtensions(mine, other)
  }

  /// Compares extensions that appear once: libcrypto returns no others.
  private static func compareExtensions(_ mine: Certificate, _ other: OpaquePointer) {
    func isSingle(_ identifier: [UInt8]) -> Bool {
      mine.extensions.filter { mine.bytes($0.identifier).elementsEqual(identifier) }.count == 1
    }
    if let constraints = mine.basicConstraints, isSingle(ObjectIdentifier.basicConstraints) {
      demand(
        reference_certificate_is_authority(other) == (constraints.isAuthority ? 1 : 0),
        "basicConstraints differ")
    }
    if let usage = mine.keyUsage, isSingle(ObjectIdentifier.keyUsage) {
      for bit in 0..<9 {
        demand(
          reference_certificate_usage(other, Int32(bit)) == (usage.has(bit) ? 1 : 0),
          "keyUsage differs")
      }
    }
  }

  // MARK: chains

  /// Returns a certificate over this signed part, in which a key of the fixture replaces the
  /// stand-in.
  private static func signed(
    _ body: [UInt8], _ key: SigningKey, by signer: SigningKey
  ) -> [UInt8] {
    guard let point = try? key.publicKey() else { fatalError("no key") }
    let body = replacing(QuickChain.standIn, with: point, in: body)
    guard let signature = try? signer.sign(body, .sha256) else { fatalError("signing failed") }
    return AssayAuthority.DER.sequence(
      body, QuickChain.algorithm, AssayAuthority.DER.bitString(signature))
  }

  static func replacing(_ old: [UInt8], with new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
    guard let range = bytes.firstRange(of: old) else { return bytes }
    return Array(bytes[..<range.lowerBound] + new + bytes[range.upperBound...])
  }

  private static func verify(leaf: [UInt8], intermediate: [UInt8]) {
    let header = JWSTemplate.storeHeader([leaf, intermediate, quick.root]).bytes
    let jws = fixture.signed(Base64Text.encodeURL(header), payload, quick.leafKey)
    let answer = fixture.verify(quick.verifier, Int32(ASSAY_JWS_TRANSACTION), jws)
    if answer.isOK { checkAccepted(leaf, intermediate) }
    answer.free()
  }

  /// Checks that libcrypto accepts every accepted chain, too, and that it has Apple's two markers.
  private static func checkAccepted(_ leaf: [UInt8], _ intermediate: [UInt8]) {
    let mine = reference_certificate_read(leaf, leaf.count)
    let above = reference_certificate_read(intermediate, intermediate.count)
    let root = reference_certificate_read(quick.root, quick.root.count)
    guard let mine, let above, let root else {
      fatalError("libcrypto does not read an accepted chain")
    }
    defer { for one in [mine, above, root] { reference_certificate_free(one) } }
    let signedAt = Purchase(now: FuzzFixture.instant).signedDate / 1000
    demand(
      reference_certificate_has(mine, "1.2.840.113635.100.6.11.1") == 1, "no marker in the leaf")
    demand(
      reference_certificate_has(above, "1.2.840.113635.100.6.2.1") == 1,
      "no marker in the intermediate")
    demand(
      reference_chain_holds(mine, above, root, signedAt) == 1,
      "libcrypto refuses an accepted chain")
  }

  /// Checks that an anchor is a well-formed, self-signed authority (CFG-3).
  private static func anchor(_ der: [UInt8]) {
    guard Anchor(der, .elliptic) != nil else { return }
    guard let other = reference_certificate_read(der, der.count) else {
      fatalError("libcrypto does not read an accepted anchor")
    }
    demand(reference_certificate_is_authority(other) == 1, "an anchor that is no authority")
    reference_certificate_free(other)
  }
}
