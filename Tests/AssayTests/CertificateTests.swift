import AssayAuthority
import Foundation
import Testing

@testable import Assay

/// Compares Assay's reader of certificates with libcrypto's (JWS-21 … JWS-32).
@Suite("Certificates")
struct CertificateTests {
  /// Returns the compared fields as Assay reads them.
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

  /// Returns whether Assay accepts the bytes, and the fields that libcrypto reads differently.
  private func compare(_ der: [UInt8]) -> (isTaken: Bool, differences: [String]) {
    guard let ours = Certificate(der) else { return (false, []) }
    switch LibcryptoCertificate.read(der) {
    case .whole(let theirs): return (true, fields(ours).differences(from: theirs))
    case .refused: return (true, ["libcrypto refuses it"])
    case .lenient: return (true, ["libcrypto would write it otherwise"])
    case .senseless: return (true, ["libcrypto cannot make sense of it"])
    }
  }

  /// Whether Assay accepts the bytes; libcrypto must then read the same fields.
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
      check(isTaken(der, "minted \(index)"))
    }
  }

  @Test("JWS-21 the compiled-in certificates are taken")
  func compiledIn() {
    let elliptic = [AppleRoots.rootCAG3, AppleRoots.appAttestationRootCA, AppleRoots.rootCAG2]
    for der in elliptic + AppleRoots.receiptTable.map(\.der) {
      check(isTaken(der, Authority.fingerprint(der)))
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
    for der in found { check(isTaken(der, "\(Authority.fingerprint(der))")) }
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
        check(reason(der) != nil, "\(name) is refused for no stated reason")
      }
    }
    if counts.taken == 0 {
      print("skipped: certificates of this machine: none in \(folder)")
    } else {
      print("Certificates: \(counts.taken) of this machine agree, \(counts.refused) refused")
    }
  }

  /// Returns why a certificate that libcrypto accepts may be refused: it is BER where DER has a
  /// single encoding.
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

  /// Returns certificates to damage, one of each form.
  private func samples() throws -> [[UInt8]] {
    let authority = try Minted.authority()
    return [authority.chain.leaf, authority.chain.intermediate, authority.xcodeCertificate]
  }

  @Test("JWS-21 no truncation and no addition is taken")
  func truncations() throws {
    for der in try samples() {
      for count in 0..<der.count { check(Certificate(Array(der[..<count])) == nil) }
      for more in [[0], [0x30, 0x00], der] as [[UInt8]] { check(Certificate(der + more) == nil) }
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
      // Keys, names and serial numbers may have any content; the structure may not change.
      check(taken > 0 && taken < der.count * 3)
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
    let issuer = try require(Certificate(chain.intermediate)?.publicKey())
    try check(require(Certificate(chain.leaf)).isSigned(by: issuer))
    for place in chain.leaf.indices {
      var other = chain.leaf
      other[place] ^= 0x01
      guard let certificate = Certificate(other) else { continue }
      check(!certificate.isSigned(by: issuer), "byte \(place)")
    }
  }

  // MARK: single rules

  private func leaf(_ change: (inout CertificateTemplate) throws -> Void) throws -> [UInt8] {
    try Minted.authority().chain(leaf: change).leaf
  }

  /// Returns the status of a leaf's profile check; "ok" if it conforms.
  private func judged(leaf der: [UInt8]) -> String {
    guard let certificate = Certificate(der) else { return "malformed.chain.der" }
    do {
      _ = try CertificateProfile.appStoreLeaf.profiled(certificate, at: "x5c[0]")
      return "ok"
    } catch {
      return "\(error.status.name)"
    }
  }

  @Test("JWS-22 JWS-23 a version and a serial number of unusual form")
  func numbers() throws {
    typealias DER = AssayAuthority.DER
    for (version, expected) in [
      (DER.explicit(0, DER.unsigned([1, 2])), "rejected.chain.version"),
      (DER.explicit(0, []), "malformed.chain.der"),
    ] {
      checkEqual(judged(leaf: try leaf { $0.version = version }), expected)
    }
    for (serial, expected) in [
      ([0x00, 0x80], "ok"), ([0x00] + [UInt8](repeating: 0xff, count: 19), "ok"),
      ([0xff, 0x7f], "rejected.chain.serial"),
      ([0x00] + [UInt8](repeating: 0xff, count: 20), "rejected.chain.serial"),
    ] as [([UInt8], String)] {
      checkEqual(judged(leaf: try leaf { $0.serial = serial }), expected, "\(serial)")
    }
  }

  @Test("JWS-25 a point that is empty, too long, or of numbers past the field is no key")
  func points() throws {
    typealias DER = AssayAuthority.DER
    let point = try SigningKey.generate(.p256).publicKey()
    for bad in [[], point + [0], [0x04] + [UInt8](repeating: 0xff, count: 64)] as [[UInt8]] {
      let info = DER.sequence(
        DER.sequence(DER.oid(OID.ecPublicKey), DER.oid(OID.p256)), DER.bitString(bad))
      checkEqual(judged(leaf: try leaf { $0.publicKeyInfo = info }), "rejected.chain.key", "\(bad)")
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
    try checkEqual(read(good), 128)
    try check(read(good, parameters: []) == nil)
    try check(read(good, parameters: DER.sequence()) == nil)
    try check(read(good + DER.null) == nil)
    try check(read(DER.sequence(DER.integer(octets: modulus), exponent, DER.null)) == nil)
    try check(
      read(DER.sequence(DER.integer(octets: modulus), DER.integer(octets: [0x03]))) == nil)
    for digits in [[], [0x00], Array(modulus.dropFirst()), [0x00, 0x5b], [0x00] + modulus] {
      try check(read(DER.sequence(DER.integer(octets: digits), exponent)) == nil, "\(digits)")
    }
  }

  @Test("JWS-27 JWS-28 basicConstraints and a key usage of a wrong form")
  func constraints() throws {
    for (oid, value, expected) in [
      (OID.basicConstraints, [0x30, 0x03, 0x01, 0x01, 0xff, 0x00], "malformed.chain.der"),
      (OID.basicConstraints, [], "malformed.chain.der"),
      (OID.keyUsage, [0x03, 0x01, 0x00], "rejected.chain.key-usage"),
      (OID.keyUsage, [0x03, 0x02, 0x08, 0x80], "malformed.chain.der"),
      (OID.keyUsage, [0x04, 0x01, 0x80], "malformed.chain.der"),
    ] as [(String, [UInt8], String)] {
      let der = try leaf { $0 = $0.replacing(oid, with: .init(oid, value)) }
      checkEqual(judged(leaf: der), expected, "\(oid) \(value)")
    }
  }

  @Test("JWS-32 validity: UTCTime or GeneralizedTime, in order")
  func validity() throws {
    let from: Int64 = 1_400_000_000
    let one = try require(
      Certificate(
        try leaf {
          $0.notBefore = .utc(from); $0.notAfter = .utc(from)
        }))
    checkEqual(one.notBefore, from)
    checkEqual(one.notAfter, from)
    try check(
      Certificate(
        leaf {
          $0.notBefore = .utc(from); $0.notAfter = .utc(from - 1)
        }) == nil)
  }
}
