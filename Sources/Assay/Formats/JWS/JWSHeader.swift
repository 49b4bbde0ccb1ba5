/// The header of a JWS that contains its certificate chain (docs/spec/storekit-jws.md §4).
struct JWSHeader {
  /// The entries of `x5c`, still base64.
  let certificates: [Text]

  /// Members that could influence verification; refused with any value (JWS-11).
  private static let forbidden: [StaticString] = [
    "crit", "b64", "zip", "enc", "jwk", "jku", "x5u",
  ]

  init(_ compact: CompactJWS) throws(Refusal) {
    try require(
      compact.header.count <= CompactJWS.headerCap, .tooLargeJwsHeader, "JWS-3", at: "header")
    let header = try CompactJWS.json(compact.headerText, at: "header").root
    try JWSHeader.checkAlgorithm(header)
    for name in JWSHeader.forbidden {
      try require(
        header.member(name) == nil, .rejectedJwsHeaderMember, "JWS-11",
        at: "header." + Text(stringLiteral: name).string)
    }
    guard let list = header.member("x5c"), list.kind == .array else {
      throw Refusal(.malformedJwsX5c, "JWS-13", at: "header.x5c")
    }
    var certificates: [Text] = []
    for (index, entry) in list.children.enumerated() {
      guard let text = entry.text else {
        throw Refusal(.malformedJwsX5c, "JWS-13", at: "x5c[" + String(index) + "]")
      }
      certificates.append(text)
    }
    self.certificates = certificates
  }

  /// Requires `alg` to be ES256. The algorithm is fixed by Apple's profile; the header must agree
  /// (JWS-10).
  static func checkAlgorithm(_ header: JSONValue) throws(Refusal) {
    guard let algorithm = header.member("alg")?.text else {
      throw Refusal(.malformedJwsAlg, "JWS-10", at: "header.alg")
    }
    try require(algorithm == "ES256", .rejectedJwsAlgorithm, "JWS-10", at: "header.alg")
  }
}
