import AssayAuthority
import Foundation
import Testing

@testable import Assay

/// JWS-21 … JWS-32: Assay's reader of certificates against libcrypto's.
@Suite("Certificates")
struct CertificateTests {
  /// The same fields out of our reader.
  private func fields(_ certificate: Certificate) -> CertificateFields {
    func octets(_ range: Range<Int>) -> [UInt8] { Array(certificate.bytes(range)) }
    let identifier = octets(certificate.keyAlgorithm)
    let algorithm = AssayAuthority.DER.sequence(
      AssayAuthority.DER.value(0x06, identifier), octets(certificate.keyParameters))
    return CertificateFields(
      version: certificate.version, serial: octets(certificate.serial),
      issuer: octets(certificate.issuer), subject: octets(certificate.subject),
      notBefore: certificate.notBefore, notAfter: certificate.notAfter,
      innerAlgorithm: octets(certificate.innerAlgorithm),
      outerAlgorithm: octets(certificate.outerAlgorithm),
      signature: octets(certificate.signature), keyAlgorithm: algorithm,
      key: octets(certificate.key),
      extensions: certificate.extensions.map {
        .init(
          identifier: octets($0.identifier), isCritical: $0.isCritical, value: octets($0.value))
      }, isAuthority: certificate.basicConstraints?.isAuthority,
      keyUsage: certificate.keyUsage.map { UInt32($0.bits.first ?? 0) })
  }

  /// Whether our reader takes the bytes; if it does, what libcrypto sees
  /// differently: nothing, if all is well.
  private func compare(_ der: [UInt8]) -> (isTaken: Bool, differences: [String]) {
    guard let ours = Certificate(der) else { return (false, []) }
    switch LibcryptoCertificate.read(der) {
    case .whole(let theirs): return (true, fields(ours).differences(from: theirs))
    case .refused: return (true, ["libcrypto refuses it"])
    case .lenient: return (true, ["libcrypto would write it otherwise"])
    case .senseless: return (true, ["libcrypto cannot make sense of it"])
    }
  }

  /// Whether our reader takes the bytes, and libcrypto sees the same in them.
  @discardableResult
  private func isTaken(_ der: [UInt8], _ name: @autoclosure () -> String) -> Bool {
    let (isTaken, differences) = compare(der)
    if !differences.isEmpty {
      Issue.record("\(name()): \(differences.joined(separator: ", "))")
    }
    return isTaken
  }

  // MARK: good ones

  @Test("JWS-21 minted certificates are taken, and every field agrees")
  func minted() throws {
    let authority = try Minted.authority()
    for (index, der) in (authority.chain.certificates + [authority.xcodeCertificate]).enumerated() {
      #expect(isTaken(der, "minted \(index)"))
    }
  }

  @Test("JWS-21 the compiled-in certificates are taken")
  func compiledIn() {
    let elliptic = [AppleRoots.rootCAG3, AppleRoots.appAttestationRootCA, AppleRoots.rootCAG2]
    for der in elliptic + AppleRoots.receiptTable.map(\.der) {
      #expect(isTaken(der, Authority.fingerprint(der)))
    }
  }

  @Test(
    "JWS-21 every certificate of the vectors is taken",
    .enabled(if: Vectors.arePresent, Vectors.absent))
  func vectors() throws {
    var found: Set<[UInt8]> = []
    for path in Vectors.paths(under: "vectors") where path.hasSuffix(".der") {
      if let der = Vectors.file(path) { found.insert(der) }
    }
    let entries = Vectors.jws(for: "certificates of JWS")
    for entry in entries where entry.isGenuine || entry.name.hasPrefix("xcode") {
      for der in Vectors.certificates(of: entry.jws) { found.insert(der) }
    }
    if found.isEmpty {
      print("skipped: certificates of the vectors: ../shared is not there")
      return
    }
    for der in found { #expect(isTaken(der, "\(Authority.fingerprint(der))")) }
    print("Certificates: \(found.count) of vectors agree with libcrypto")
  }

  @Test("JWS-21 the roots of this machine are taken, or refused for a stated reason")
  func machine() throws {
    let folder = "/etc/ssl/certs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var counts = (taken: 0, refused: 0)
    for name in names.sorted() where name.hasSuffix(".pem") {
      guard let text = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8) else {
        continue
      }
      let lines = text.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN CERT") }.dropFirst()
        .prefix { !$0.hasPrefix("-----END") }
      guard let der = Base64.decodeStandard(utf8(lines.joined())[...]) else { continue }
      if isTaken(der, name) {
        counts.taken += 1
      } else {
        counts.refused += 1
        #expect(reason(der) != nil, "\(name) is refused for no stated reason")
      }
    }
    if counts.taken == 0 {
      print("skipped: certificates of this machine: none in \(folder)")
    } else {
      print("Certificates: \(counts.taken) of this machine agree, \(counts.refused) refused")
    }
  }

  /// Why a certificate that libcrypto takes may be refused: it is BER in a place
  /// where DER leaves one spelling.
  private func reason(_ der: [UInt8]) -> String? {
    guard case .whole(let theirs) = LibcryptoCertificate.read(der) else { return "libcrypto too" }
    if theirs.extensions.contains(where: {
      $0.identifier == ObjectIdentifier.basicConstraints
        && $0.value == [0x30, 0x03, 0x01, 0x01, 0x00]
    }) {
      return "CA:FALSE is written down, although it is the default"
    }
    if !DER.isCanonical(der) { return "not DER" }
    return nil
  }

  // MARK: damaged ones

  /// Certificates to damage: one of each shape.
  private func samples() throws -> [[UInt8]] {
    let authority = try Minted.authority()
    return [authority.chain.leaf, authority.chain.intermediate, authority.xcodeCertificate]
  }

  @Test("JWS-21 no truncation and no addition is taken")
  func truncations() throws {
    for der in try samples() {
      for count in 0..<der.count { #expect(Certificate(Array(der[..<count])) == nil) }
      for more in [[0], [0x30, 0x00], der] as [[UInt8]] { #expect(Certificate(der + more) == nil) }
    }
  }

  @Test("JWS-21 every byte changed: what is still taken, libcrypto reads alike")
  func changedBytes() throws {
    for der in try samples() {
      var taken = 0
      for place in der.indices {
        for change in [0x01, 0x80, 0xff] as [UInt8] {
          var other = der
          other[place] ^= change
          if isTaken(other, "byte \(place) ^ \(change)") { taken += 1 }
        }
      }
      // Keys, names and serials may be anything; the frame may not.
      #expect(taken > 0 && taken < der.count * 3)
    }
  }

  @Test("JWS-21 every byte removed or doubled is refused, or read alike")
  func movedBytes() throws {
    for der in try samples() {
      for place in der.indices {
        var other = der
        other.remove(at: place)
        isTaken(other, "without byte \(place)")
        other = der
        other.insert(der[place], at: place)
        isTaken(other, "byte \(place) twice")
      }
    }
  }

  @Test("JWS-31 with any byte changed the issuer's key verifies the leaf no more")
  func changedSignatures() throws {
    let chain = try Minted.authority().chain
    let issuer = try #require(Certificate(chain.intermediate)?.publicKey())
    #expect(try #require(Certificate(chain.leaf)).isSigned(by: issuer))
    for place in chain.leaf.indices {
      var other = chain.leaf
      other[place] ^= 0x01
      guard let certificate = Certificate(other) else { continue }
      #expect(!certificate.isSigned(by: issuer), "byte \(place)")
    }
  }

  // MARK: single rules

  private func leaf(_ change: (inout CertificateTemplate) throws -> Void) throws -> [UInt8] {
    try Minted.authority().chain(leaf: change).leaf
  }

  private func intermediate(_ change: (inout CertificateTemplate) throws -> Void) throws -> [UInt8]
  {
    try Minted.authority().chain(intermediate: change).intermediate
  }

  /// The name of the refusal of a leaf by its shape, "ok" when there is none.
  private func judged(leaf der: [UInt8]) -> String {
    guard let certificate = Certificate(der) else { return "malformed.chain.der" }
    do {
      _ = try CertificateProfile.appStoreLeaf.shaped(certificate, at: "x5c[0]")
      return "ok"
    } catch {
      return "\(error.status.name)"
    }
  }

  private func judged(intermediate der: [UInt8]) -> String {
    guard let certificate = Certificate(der) else { return "malformed.chain.der" }
    do {
      _ = try CertificateProfile.appStoreIntermediate.shaped(certificate, at: "x5c[1]")
      return "ok"
    } catch {
      return "\(error.status.name)"
    }
  }

  @Test("JWS-21 the forms around a certificate")
  func frames() throws {
    for form in [
      CertificateTemplate.Form.trailing([0]), .longLength, .indefiniteLength, .truncated(1),
      .trailing([0x05, 0x00]),
    ] {
      #expect(judged(leaf: try leaf { $0.form = form }) == "malformed.chain.der")
    }
    #expect(judged(leaf: try leaf { _ in }) == "ok")
    #expect(judged(intermediate: try intermediate { _ in }) == "ok")
  }

  @Test("JWS-22 only version 3")
  func versions() throws {
    for (version, expected) in [
      ([], "rejected.chain.version"),
      (AssayAuthority.DER.explicit(0, AssayAuthority.DER.unsigned([0])), "rejected.chain.version"),
      (AssayAuthority.DER.explicit(0, AssayAuthority.DER.unsigned([1])), "rejected.chain.version"),
      (AssayAuthority.DER.explicit(0, AssayAuthority.DER.unsigned([2])), "ok"),
      (AssayAuthority.DER.explicit(0, AssayAuthority.DER.unsigned([3])), "rejected.chain.version"),
      (
        AssayAuthority.DER.explicit(0, AssayAuthority.DER.unsigned([1, 2])),
        "rejected.chain.version"
      ),
      (AssayAuthority.DER.explicit(0, []), "malformed.chain.der"),
    ] as [([UInt8], String)] {
      #expect(judged(leaf: try leaf { $0.version = version }) == expected)
    }
  }

  @Test("JWS-23 serial numbers are positive and of 1 to 20 octets")
  func serials() throws {
    let full = [UInt8](repeating: 0x7f, count: 20)
    for (serial, expected) in [
      ([0x01], "ok"), (full, "ok"), ([0x00, 0x80], "ok"),
      ([0x00] + [UInt8](repeating: 0xff, count: 19), "ok"),
      ([0x00], "rejected.chain.serial"), ([0x80], "rejected.chain.serial"),
      ([0xff, 0x7f], "rejected.chain.serial"), (full + [0x7f], "rejected.chain.serial"),
      ([0x00] + [UInt8](repeating: 0xff, count: 20), "rejected.chain.serial"),
      ([], "malformed.chain.der"), ([0x00, 0x01], "malformed.chain.der"),
    ] as [([UInt8], String)] {
      #expect(judged(leaf: try leaf { $0.serial = serial }) == expected, "\(serial)")
      #expect(judged(intermediate: try intermediate { $0.serial = serial }) == expected)
    }
  }

  @Test("JWS-24 both algorithm fields agree: ECDSA with SHA-384 or SHA-256, no parameters")
  func algorithms() throws {
    let sha256 = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    #expect(
      judged(
        leaf: try leaf {
          $0.innerAlgorithm = sha256; $0.digest = .sha256
        }) == "ok")
    for change in [
      { $0.outerAlgorithm = sha256 },
      {
        $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512); $0.digest = .sha512
      },
      {
        $0.innerAlgorithm = CertificateTemplate.algorithm(
          OID.sha256WithRSA, parameters: [0x05, 0x00])
      },
      {
        $0.innerAlgorithm = CertificateTemplate.algorithm(
          OID.ecdsaWithSHA384, parameters: [0x05, 0x00])
      },
    ] as [(inout CertificateTemplate) -> Void] {
      #expect(judged(leaf: try leaf(change)) == "rejected.chain.signature-algorithm")
      #expect(
        judged(intermediate: try intermediate(change)) == "rejected.chain.signature-algorithm")
    }
  }

  @Test("JWS-25 named curves, uncompressed points on them; the leaf on P-256 only")
  func keys() throws {
    let p384 = try SigningKey.generate(.p384).publicKeyInfo()
    let p256 = try SigningKey.generate(.p256).publicKeyInfo()
    let rsa = try SigningKey.generate(.rsa(bits: 2048)).publicKeyInfo()
    let p521 = try SigningKey.generate(.p521).publicKeyInfo()
    #expect(judged(leaf: try leaf { $0.publicKeyInfo = p256 }) == "ok")
    #expect(judged(intermediate: try intermediate { $0.publicKeyInfo = p256 }) == "ok")
    #expect(judged(leaf: try leaf { $0.publicKeyInfo = p384 }) == "rejected.chain.key")
    for info in [rsa, p521] {
      #expect(judged(leaf: try leaf { $0.publicKeyInfo = info }) == "rejected.chain.key")
      #expect(
        judged(intermediate: try intermediate { $0.publicKeyInfo = info }) == "rejected.chain.key")
    }
    let point = try SigningKey.generate(.p256).publicKey()
    func info(_ point: [UInt8]) -> [UInt8] {
      AssayAuthority.DER.sequence(
        AssayAuthority.DER.sequence(
          AssayAuthority.DER.oid(OID.ecPublicKey), AssayAuthority.DER.oid(OID.p256)),
        AssayAuthority.DER.bitString(point))
    }
    #expect(judged(leaf: try leaf { $0.publicKeyInfo = info(point) }) == "ok")
    var off = point
    off[64] ^= 1
    for bad in [
      off, [0x00], [0x02 + (point[64] & 1)] + point[1...32], [0x06 + (point[64] & 1)] + point[1...],
      [0x04] + [UInt8](repeating: 0, count: 64), [0x04] + [UInt8](repeating: 0xff, count: 64),
      Array(point.dropLast()), point + [0], [],
    ] as [[UInt8]] {
      #expect(
        judged(leaf: try leaf { $0.publicKeyInfo = info(bad) }) == "rejected.chain.key", "\(bad)")
    }
  }

  @Test("PTH-9 an RSA key: parameters NULL, one pair of a positive minimal modulus and 65537")
  func rsaKeys() throws {
    typealias DER = AssayAuthority.DER
    let modulus: [UInt8] = [0x00, 0xc3] + [UInt8](repeating: 0x5b, count: 127)
    let exponent = DER.integer(octets: [0x01, 0x00, 0x01])
    func read(_ pair: [UInt8], parameters: [UInt8] = DER.null) throws -> Int? {
      let info = DER.sequence(
        DER.sequence(DER.oid(OID.rsaEncryption), parameters), DER.bitString(pair))
      return Certificate(try leaf { $0.publicKeyInfo = info })?.rsaModulus?.count
    }
    let good = DER.sequence(DER.integer(octets: modulus), exponent)
    #expect(try read(good) == 128)
    #expect(try read(good, parameters: []) == nil)
    #expect(try read(good, parameters: DER.sequence()) == nil)
    #expect(try read(good + DER.null) == nil)
    #expect(try read(DER.sequence(DER.integer(octets: modulus), exponent, DER.null)) == nil)
    #expect(
      try read(DER.sequence(DER.integer(octets: modulus), DER.integer(octets: [0x03]))) == nil)
    for digits in [[], [0x00], Array(modulus.dropFirst()), [0x00, 0x5b], [0x00] + modulus] {
      #expect(try read(DER.sequence(DER.integer(octets: digits), exponent)) == nil, "\(digits)")
    }
  }

  @Test("JWS-26 extensions: none twice, no unknown critical one, no name constraints")
  func extensions() throws {
    let unknown = CertificateExtension("1.2.3.4", [0x05, 0x00])
    #expect(judged(leaf: try leaf { $0 = $0.adding(unknown) }) == "ok")
    for (change, expected) in [
      ({ $0 = $0.adding(unknown).adding(unknown) }, "rejected.chain.duplicate-extension"),
      ({ $0 = $0.adding(.keyUsage(.digitalSignature)) }, "rejected.chain.duplicate-extension"),
      (
        { $0 = $0.adding(.init("1.2.3.4", critical: true, [0x05, 0x00])) },
        "rejected.chain.critical-extension"
      ),
      (
        { $0 = $0.adding(.extendedKeyUsage("1.3.6.1.5.5.7.3.3", critical: true)) },
        "rejected.chain.critical-extension"
      ),
      ({ $0 = $0.adding(.extendedKeyUsage("1.3.6.1.5.5.7.3.3")) }, "ok"),
      (
        { $0 = $0.adding(.nameConstraints("example.com", critical: false)) },
        "rejected.chain.name-constraints"
      ),
      (
        { $0 = $0.adding(.nameConstraints("example.com", critical: true)) },
        "rejected.chain.name-constraints"
      ),
      ({ $0.extensions = [] }, "malformed.chain.der"),
    ] as [((inout CertificateTemplate) -> Void, String)] {
      #expect(judged(leaf: try leaf(change)) == expected)
      #expect(judged(intermediate: try intermediate(change)) == expected)
    }
  }

  @Test("JWS-26 a critical flag is FF or not there")
  func criticalFlags() throws {
    for (flag, expected) in [
      (0x00, "malformed.chain.der"), (0x01, "malformed.chain.der"), (0xff, "ok"),
    ] as [(UInt8, String)] {
      var entry = CertificateExtension.keyUsage(.digitalSignature)
      entry.critical = flag
      #expect(judged(leaf: try leaf { $0 = $0.replacing(OID.keyUsage, with: entry) }) == expected)
    }
  }

  @Test("JWS-27 the intermediate is a CA that may sign certificates")
  func intermediates() throws {
    for (oid, replacement, expected) in [
      (OID.basicConstraints, nil, "rejected.chain.not-ca"),
      (OID.basicConstraints, .basicConstraints(ca: false), "rejected.chain.not-ca"),
      (OID.basicConstraints, .basicConstraints(ca: true, critical: false), "ok"),
      (OID.basicConstraints, .basicConstraints(ca: true, pathLength: 9), "ok"),
      (
        OID.basicConstraints, .init(OID.basicConstraints, [0x30, 0x03, 0x01, 0x01, 0x00]),
        "malformed.chain.der"
      ),
      (
        OID.basicConstraints,
        .init(OID.basicConstraints, [0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x80]),
        "malformed.chain.der"
      ),
      (
        OID.basicConstraints, .init(OID.basicConstraints, [0x30, 0x03, 0x01, 0x01, 0xff, 0x00]),
        "malformed.chain.der"
      ),
      (OID.basicConstraints, .init(OID.basicConstraints, []), "malformed.chain.der"),
      (OID.keyUsage, nil, "ok"),
      (OID.keyUsage, .keyUsage([.keyCertSign], critical: false), "ok"),
      (OID.keyUsage, .keyUsage([.cRLSign, .digitalSignature]), "rejected.chain.key-usage"),
      (OID.intermediateMarker, nil, "rejected.chain.intermediate-marker"),
      (
        OID.intermediateMarker, .marker("1.2.840.113635.100.6.2.2"),
        "rejected.chain.intermediate-marker"
      ),
      (OID.intermediateMarker, .marker(OID.leafMarker), "rejected.chain.intermediate-marker"),
      (
        OID.intermediateMarker, .init(OID.intermediateMarker, critical: true, [0x05, 0x00]),
        "rejected.chain.critical-extension"
      ),
    ] as [(String, CertificateExtension?, String)] {
      let der = try intermediate { $0 = $0.replacing(oid, with: replacement) }
      #expect(judged(intermediate: der) == expected, "\(oid)")
    }
  }

  @Test("JWS-28 JWS-29 the leaf is no CA, may sign, and carries Apple's marker")
  func leaves() throws {
    for (oid, replacement, expected) in [
      (OID.basicConstraints, nil, "ok"),
      (OID.basicConstraints, .basicConstraints(ca: true), "rejected.chain.leaf-is-ca"),
      (
        OID.basicConstraints, .basicConstraints(ca: true, pathLength: 0, critical: false),
        "rejected.chain.leaf-is-ca"
      ),
      (OID.keyUsage, nil, "ok"),
      (OID.keyUsage, .keyUsage([.keyCertSign]), "rejected.chain.key-usage"),
      (OID.keyUsage, .keyUsage([.digitalSignature, .nonRepudiation]), "ok"),
      (OID.keyUsage, .init(OID.keyUsage, [0x03, 0x01, 0x00]), "rejected.chain.key-usage"),
      (OID.keyUsage, .init(OID.keyUsage, [0x03, 0x02, 0x08, 0x80]), "malformed.chain.der"),
      (OID.keyUsage, .init(OID.keyUsage, [0x04, 0x01, 0x80]), "malformed.chain.der"),
      (OID.leafMarker, nil, "rejected.chain.leaf-marker"),
      (OID.leafMarker, .marker(OID.intermediateMarker), "rejected.chain.leaf-marker"),
      (OID.leafMarker, .marker("1.2.840.113635.100.6.11.1.1"), "rejected.chain.leaf-marker"),
      (OID.leafMarker, .init(OID.leafMarker, [0x30, 0x00]), "ok"),
    ] as [(String, CertificateExtension?, String)] {
      let der = try leaf { $0 = $0.replacing(oid, with: replacement) }
      #expect(judged(leaf: der) == expected, "\(oid)")
    }
  }

  @Test("JWS-30 names chain byte for byte, and none is empty")
  func names() throws {
    let authority = try Minted.authority()
    let trust = try Minted.trust([("storekit.cache", ["chains": 0])])
    func refusal(_ chain: CertificateChain) throws -> String? {
      let jws = try JWSTemplate(
        payload: Minted.purchase.transactionPayload.bytes, chain: chain
      ).signed()
      do throws(Refusal) {
        _ = try Minted.run(trust, jws)
        return nil
      } catch {
        return "\(error.status.name) \(error.place)"
      }
    }
    let empty = AssayAuthority.DER.sequence()
    #expect(try refusal(authority.chain) == nil)
    for name in [authority.leaf.subject, authority.intermediate.issuer, empty] {
      #expect(
        try refusal(authority.chain(leaf: { $0.issuer = name })) == "rejected.chain.names x5c[0]")
    }
    for name in [authority.leaf.subject, authority.intermediate.subject, empty] {
      #expect(
        try refusal(authority.chain(intermediate: { $0.issuer = name }))
          == "rejected.chain.names x5c[1]")
    }
    // Two empty names are equal and name no one.
    let nameless = try authority.chain(
      intermediate: { $0.subject = empty }, leaf: { $0.issuer = empty })
    #expect(try refusal(nameless) == "rejected.chain.names x5c[0]")
  }

  @Test("JWS-32 validity: UTCTime or GeneralizedTime, in order")
  func validity() throws {
    let from: Int64 = 1_400_000_000
    let one = try #require(
      Certificate(
        try leaf {
          $0.notBefore = .utc(from); $0.notAfter = .utc(from)
        }))
    #expect(one.notBefore == from)
    #expect(one.notAfter == from)
    #expect(
      try Certificate(
        leaf {
          $0.notBefore = .utc(from); $0.notAfter = .utc(from - 1)
        }) == nil)
  }
}
