/// The OCSP responder's address in a certificate (OCSP-1). Only proven certificates are read, and
/// an address outside the allowed hosts is refused.
enum ResponderAddress {
  /// 1.3.6.1.5.5.7.1.1, authorityInfoAccess, and 1.3.6.1.5.5.7.48.1, OCSP.
  private static let authorityInformation: [UInt8] = [
    0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01,
  ]
  private static let revocation: [UInt8] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]

  /// Returns the responder's URL; `nil` if the certificate has none.
  ///
  /// - Throws: `rejected.chain.ocsp-address` for one that is not at these hosts.
  static func of(_ certificate: Certificate, hosts: [Text]) throws(Refusal) -> Text? {
    guard let entry = certificate.extension(authorityInformation) else { return nil }
    guard let list = descriptions(entry, certificate) else {
      throw Refusal(.rejectedChainOcspAddress, "OCSP-1", at: "authorityInfoAccess")
    }
    guard let location = list.first(where: { $0.method.elementsEqual(revocation) })?.location
    else { return nil }
    let url = certificate.bytes(location.content)
    try require(
      location.tag == 0x86 && isAllowed(url, hosts), .rejectedChainOcspAddress, "OCSP-1",
      at: "authorityInfoAccess")
    return Text(Array(url))
  }

  private static func descriptions(
    _ entry: Certificate.Extension, _ certificate: Certificate
  ) -> [(method: ArraySlice<UInt8>, location: DER.Element)]? {
    let der = certificate.der
    var outer = DER.Cursor(der, entry.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var entries = DER.Cursor(der, list.content)
    var found: [(method: ArraySlice<UInt8>, location: DER.Element)] = []
    while !entries.isAtEnd {
      guard let description = entries.next(DER.sequence) else { return nil }
      var pair = DER.Cursor(der, description.content)
      guard let method = pair.next(DER.objectIdentifier), let location = pair.next(), pair.isAtEnd
      else { return nil }
      found.append((certificate.bytes(method.content), location))
    }
    return found
  }

  /// Whether the URL is `http` or `https` at exactly one of the hosts: no user part, and no port
  /// but the scheme's own.
  private static func isAllowed(_ url: ArraySlice<UInt8>, _ hosts: [Text]) -> Bool {
    guard url.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) else {
      return false
    }
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")] as [(Text, Text)]
    where url.starts(with: scheme.utf8) {
      let authority = url.dropFirst(scheme.count).prefix {
        $0 != 0x2f && $0 != 0x3f && $0 != 0x23
      }
      return hosts.contains { host in
        authority.elementsEqual(host.utf8) || authority.elementsEqual(host.utf8 + port.utf8)
      }
    }
    return false
  }
}
