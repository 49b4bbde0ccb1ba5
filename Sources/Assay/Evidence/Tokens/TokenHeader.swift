/// The header of a token, checked against a profile (docs/spec/access-tokens.md §3). Members that
/// are not named here are ignored (TOK-16).
struct TokenHeader {
  private let object: JSONValue

  private static let kidBytes = 256
  /// Members that could influence the verification, refused with any value (TOK-14).
  private static let forbidden: [StaticString] = [
    "crit", "b64", "zip", "enc", "jwk", "jku", "x5u", "x5c",
  ]

  /// Reads the header as strict JSON (TOK-8).
  init(_ token: TokenText) throws(Refusal) {
    object = try TokenText.json(token.header, at: "header")
  }

  /// Requires the profile's algorithm: the header only has to agree with the profile (TOK-12).
  func checkAlgorithm(_ wanted: TokenAlgorithm) throws(Refusal) {
    guard let algorithm = object.member("alg"), algorithm.kind == .string else {
      throw Refusal(.malformedTokenAlg, "TOK-12", at: "header.alg")
    }
    try require(
      algorithm.isText(wanted.name), .rejectedTokenAlgorithm, "TOK-12", at: "header.alg")
  }

  /// Refuses forbidden members (TOK-14), and requires a key id (TOK-13) and, if present, one of
  /// `types` as `typ` (TOK-15).
  ///
  /// - Returns: the key id.
  func checkMembers(_ types: [Text]) throws(Refusal) -> Text {
    for name in TokenHeader.forbidden {
      try require(
        object.member(name) == nil, .rejectedTokenHeaderMember, "TOK-14",
        at: "header." + Text(stringLiteral: name).string)
    }
    guard let kid = object.member("kid")?.text, !kid.isEmpty, kid.count <= TokenHeader.kidBytes
    else { throw Refusal(.malformedTokenKid, "TOK-13", at: "header.kid") }
    if let type = object.member("typ") {
      let name = type.text.map(TokenProfile.plainType)
      try require(
        name.map { types.contains($0) } == true, .rejectedTokenType, "TOK-15", at: "header.typ")
    }
    return kid
  }
}
