/// What a `jwks` conversation is to fetch (docs/spec/access-tokens.md §5.1).
struct KeysetTask {
  /// Whose keys they are: that of `sameKeysAs`, where it has the issuer (KST-12).
  let issuer: Text
  let state: KeysetState
  /// The list `keys` of the set that the host has; nil: it has none.
  let old: JSONValue?
  private let url: Text

  private static let kidBytes = 1...256

  /// - Throws: `config.exchange.block-missing`, `misuse.exchange.request`,
  ///   `misuse.token.keyset`, and what is wrong with the old set.
  init(
    _ request: ExchangeRequest, _ configuration: Configuration, nowMs: Int64
  ) throws(Refusal) {
    try require(!configuration.tokens.isEmpty, .configExchangeBlockMissing, "EXC-8", at: "tokens")
    let node = try request.required("issuer").refusing(.misuseExchangeRequest, "KST-12")
    let named = try node.text()
    guard let profile = configuration.profile(of: named)?.profile else {
      throw node.refusal(.range)
    }
    issuer = profile.keysIssuer(of: named)
    guard let address = profile.jwksUri(of: issuer) else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "tokens.jwksUri")
    }
    url = address.text
    if let given = request["state"], !given.value.isNull {
      state = try KeysetState(given, nowMs: nowMs)
    } else {
      state = KeysetState()
    }
    _ = try request["wantKid"]?.refusing(.misuseExchangeRequest, "KST-12").text(Self.kidBytes)
    old = try KeysetTask.old(request, of: issuer, configuration.tokens)
  }

  /// KST-7, KST-9: what the host has of this issuer, read like a new set.
  private static func old(
    _ request: ExchangeRequest, of issuer: Text, _ profiles: [TokenProfile.Shared]
  ) throws(Refusal) -> JSONValue? {
    guard let given = request["keyset"], !given.value.isNull else { return nil }
    let text = try given.refusing(.misuseExchangeRequest, "KST-12").text()
    var reader = KeysetReader()
    let keyset: Keyset
    do throws(Refusal) {
      keyset = try reader.run(text.utf8)
    } catch {
      throw error.inside("keyset")
    }
    let owner = keyset.issuer ?? KeysetInUse.onlyIssuer(profiles)
    try require(owner == issuer, .misuseTokenKeyset, "KST-7", at: "keyset/issuer")
    return reader.list
  }

  /// KST-9: whether an unchanged set needs not be sent again.
  var isConditional: Bool { old != nil && state.etag != nil }

  /// KST-12.
  var request: HTTPRequest {
    var headers: [(name: StaticString, value: Text)] = [("Accept", "application/json")]
    if isConditional, let etag = state.etag { headers.append(("If-None-Match", etag)) }
    return HTTPRequest(
      method: "GET", url: url, headers: headers, body: nil, timeoutMs: 3000,
      maxResponseBytes: Int64(KeysetReader.byteCap), wantHeaders: ["content-type", "etag"],
      secret: [])
  }
}
