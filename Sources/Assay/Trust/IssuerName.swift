/// Names of an issuer for messages, in printable ASCII of at most 80 bytes each (CER-7).
enum IssuerName {
  private static let cap = 80

  static func describe(_ certificate: Certificate) -> String {
    "issuer " + quoted(certificate, ObjectIdentifier.commonName) + ", unit "
      + quoted(certificate, ObjectIdentifier.organizationalUnit)
  }

  private static func quoted(_ certificate: Certificate, _ type: [UInt8]) -> String {
    let der = certificate.der
    var outer = DER.Cursor(der, certificate.issuer)
    guard let sequence = outer.next(DER.sequence) else { return "?" }
    var names = DER.Cursor(der, sequence.content)
    while let relative = names.next(DER.set) {
      var attributes = DER.Cursor(der, relative.content)
      while let attribute = attributes.next(DER.sequence) {
        var pair = DER.Cursor(der, attribute.content)
        guard let identifier = pair.next(DER.objectIdentifier), let value = pair.next(),
          certificate.bytes(identifier.content).elementsEqual(type)
        else { continue }
        let printable = certificate.bytes(value.content).prefix(cap).map { byte -> UInt8 in
          byte >= 0x20 && byte < 0x7f && byte != 0x22 ? byte : 0x3f
        }
        return "'" + Text(printable).string + "'"
      }
    }
    return "none"
  }
}
