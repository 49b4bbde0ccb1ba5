/// The parameters of a `fetch-keyset` exchange (docs/spec/access-tokens.md §5.1).
struct KeysetTask {
  /// The issuer whose keys are fetched: that of `issuerAliases` if the profile names one (KST-12).
  let issuer: Text
  let state: KeysetState
  /// The member `keys` of the host's key set; `nil` if the host has none.
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

  /// Returns the keys of the host's key set, which must be of this issuer (KST-7) and is read as
  /// strictly as a new one (KST-9).
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

  /// Whether the issuer may answer that the key set is unchanged (KST-9).
  var isConditional: Bool { old != nil && state.etag != nil }

  /// The HTTP request, conditional if the host has an ETag (KST-12).
  var request: HTTPRequest {
    var headers: [(name: StaticString, value: Text)] = [("Accept", "application/json")]
    if isConditional, let etag = state.etag { headers.append(("If-None-Match", etag)) }
    return HTTPRequest(
      method: "GET", url: url, headers: headers, body: nil, timeoutMs: 3000,
      maxResponseBytes: Int64(KeysetReader.byteCap), responseHeaders: ["content-type", "etag"],
      sensitivePaths: [])
  }
}
