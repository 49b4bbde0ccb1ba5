/// The report about a certificate in documents, and the check of its validity.
extension Certificate {
  /// The SHA-256 of the DER, in lower-case hex.
  var fingerprint: Text { Text(Hex.encode(Digest.sha256.of(der))) }

  /// Writes a certificate's report: fingerprint, serial number, validity in milliseconds.
  func writeReport(_ writer: inout JSONWriter) {
    writer.beginObject()
    writeReportMembers(&writer)
    writer.endObject()
  }

  func writeReportMembers(_ writer: inout JSONWriter) {
    writer.member("sha256", fingerprint)
    let digits = Array(bytes(serial).drop { $0 == 0 })
    writer.member("serial", Text(Hex.encode(digits.isEmpty ? [0] : digits, upper: true)))
    // ASN.1 dates end with the year 9999, so the products cannot overflow.
    writer.member("notBefore", integer: notBefore &* 1000)
    writer.member("notAfter", integer: notAfter &* 1000)
  }

  func checkValidity(
    _ seconds: Int64, _ rule: StaticString, at place: String, hint: Explanation? = nil
  ) throws(Refusal) {
    try require(seconds >= notBefore, .rejectedChainNotYetValid, rule, at: place, hint: hint)
    try require(seconds <= notAfter, .rejectedChainExpired, rule, at: place, hint: hint)
  }
}
