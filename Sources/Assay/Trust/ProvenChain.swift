/// A chain of which everything that does not depend on the payload has been
/// proven: bytes of the root, form, names, markers, both signatures. A pure
/// function of the certificates and the anchors, so it never grows old; dates
/// are checked against every payload anew (JWS-63).
final class ProvenChain: Sendable {
  /// Whose certificate signed, and so what the payload may claim (JWS-72).
  enum Profile: Sendable { case appStore, xcode, attestReceipt }

  struct Link: Sendable {
    let notBefore: Int64
    let notAfter: Int64

    init(_ certificate: Certificate) {
      notBefore = certificate.notBefore
      notAfter = certificate.notAfter
    }

    func contains(_ seconds: Int64) -> Bool { notBefore <= seconds && seconds <= notAfter }
  }

  let profile: Profile
  let leafKey: PublicKey
  /// Leaf, intermediate and anchor; the leaf alone in the Xcode profile.
  let links: [Link]
  /// The members of `chain` in a document, as JSON text without braces.
  let report: [UInt8]
  /// Of them the leaf's value alone.
  let leafReport: ArraySlice<UInt8>

  /// The proven certificates from the leaf on.
  init(_ profile: Profile, leafKey: PublicKey, certificates: [Certificate]) {
    self.profile = profile
    self.leafKey = leafKey
    links = certificates.map { Link($0) }
    var writer = JSONWriter(capacity: 600)
    var leafReport = 0..<0
    let names: [StaticString] = ["leaf", "intermediate", "root"]
    for (index, name) in names.enumerated() {
      writer.name(name)
      if index < certificates.count {
        let start = writer.bytes.count
        certificates[index].writeReport(&writer)
        if index == 0 { leafReport = start..<writer.bytes.count }
      } else {
        writer.null()
      }
    }
    report = writer.bytes
    self.leafReport = report[leafReport]
  }
}

extension Certificate {
  /// SHA-256 of the DER, in lower-case hex.
  var fingerprint: Text { Text(Hex.encode(Digest.sha256.of(der))) }

  /// What a document tells of a certificate: fingerprint, serial, validity.
  func writeReport(_ writer: inout JSONWriter) {
    writer.beginObject()
    writeReportMembers(&writer)
    writer.endObject()
  }

  func writeReportMembers(_ writer: inout JSONWriter) {
    writer.member("sha256", fingerprint)
    let digits = Array(bytes(serial).drop { $0 == 0 })
    writer.member("serial", Text(Hex.encode(digits.isEmpty ? [0] : digits, upper: true)))
    // ASN.1 dates end with the year 9999, so these cannot overflow.
    writer.member("notBefore", integer: notBefore &* 1000)
    writer.member("notAfter", integer: notAfter &* 1000)
  }
}
